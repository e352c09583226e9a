//! Mapping units that hosts are expected not to get, from the probabilities of all reads: it tells failures
//! that are too rare to be counted.

use crate::device::errors::{Errors, ReadOf};
use engine::{Instant, bits};
use ftl::{Batch, Ftl, Ppn};

/// The probability that none of some independent events comes. Rare events are exact.
#[derive(Clone, Copy, Default)]
struct Events {
    /// Logarithm of the probability that none comes.
    none: f64,
}

impl Events {
    /// Adds so many events with the same probability.
    #[inline]
    fn add(&mut self, count: u32, each: f64) {
        self.none += f64::from(count) * libm::log1p(-each);
    }
    /// Probability that any of them comes.
    #[inline]
    fn any(self) -> f64 {
        -libm::expm1(self.none)
    }
}

impl Errors {
    /// Expected number of mapping units that bit errors keep a read of a page from getting at all: what it
    /// cannot decode, and the other members of the stripe that are on flash do not tell, either.
    #[inline]
    pub(super) fn expected_units(
        &mut self,
        now: (&Ftl, Instant),
        read: &ReadOf,
        [plane, row]: [u32; 2],
        (rate, words): (f64, u32),
    ) -> f64 {
        let (ftl, is_protected) = (now.0, now.0.members_of_stripes(read.at.block).is_some());
        let policy = self.policy_of(read.level);
        let (gives_up, most) = (policy.gives_up_at_once(), policy.most_re_reads(is_protected));
        let of_unit = words.min(self.words_of_unit);
        let units = f64::from(words) / f64::from(of_unit);
        let unit = self.fails(rate, of_unit, most, !gives_up);
        if !is_protected || gives_up || unit == 0.0 {
            return units * unit;
        }
        let member = match ftl.layout.stripes {
            None => self.any_of_row(now, read.at, [plane, row], of_unit),
            Some(_) => self.any_of_stripes(now, read, plane, of_unit),
        };
        units * unit * member
    }

    /// Probability that any other member of a superblock's stripe, parity included, cannot be decoded: the
    /// same part of its page.
    fn any_of_row(
        &mut self,
        now: (&Ftl, Instant),
        at: Batch,
        [plane, row]: [u32; 2],
        words: u32,
    ) -> f64 {
        let mut members = Events::default();
        for member in now.0.members_on_flash(at) {
            let rate = self.rates.of(now.0, now.1, member, plane, row);
            members.add(1, self.member_fails(rate, words));
        }
        members.any()
    }

    /// Probability that any other member of a logical stripe cannot be decoded, as the mean over
    /// the units that a read wants of a plane. Members are taken to be where they were last placed.
    fn any_of_stripes(
        &mut self,
        now: (&Ftl, Instant),
        read: &ReadOf,
        plane: u32,
        words: u32,
    ) -> f64 {
        let (ftl, layout) = (now.0, &now.0.layout);
        let first = layout.first_unit(read.at.block, read.at.batch).0;
        // What a read of a host brings is known by its slots.
        debug_assert!(read.words.slots() != 0, "a read of a host knows its units");
        let (mut sum, mut count) = (0.0, 0);
        for slot in bits(read.words.slots()) {
            if layout.planes_of_slot(slot as u32) >> plane & 1 == 0 {
                continue;
            }
            let mut members = Events::default();
            for ppn in ftl.members_placed(Ppn(first + slot as u32)) {
                let (at, plane, row) = layout.page_of(ppn);
                let rate = self.rates.of(ftl, now.1, at, plane, row);
                members.add(1, self.member_fails(rate, words));
            }
            sum += members.any();
            count += 1;
        }
        sum / f64::from(count.max(1))
    }

    /// Probability that a member of a stripe is not decoded. Members are read as the drive reads for itself,
    /// and no other data rebuilds them.
    #[inline]
    fn member_fails(&mut self, rate: f64, words: u32) -> f64 {
        let re_reads = self.policy.most_re_reads(false);
        self.fails(rate, words, re_reads, !self.policy.gives_up_at_once())
    }

    /// Probability that any of some codewords is not decoded after so many re-reads, and softly.
    #[inline]
    fn fails(&mut self, rate: f64, words: u32, re_reads: Option<u32>, softly: bool) -> f64 {
        let Some(re_reads) = re_reads else { return 0.0 };
        let rate = rate / libm::pow(self.re_read_scale, f64::from(re_reads));
        let last = self.soft_decoder.as_mut().filter(|_| softly).map(|(_, code)| code);
        let Some(code) = last.or(self.code.as_mut()) else { return 0.0 };
        let mut undecoded = Events::default();
        undecoded.add(words, code.about(rate));
        undecoded.any()
    }
}
