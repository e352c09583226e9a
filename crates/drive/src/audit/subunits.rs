//! Account of the auditor of subunits: which parts of each unit hold data. A partial write is taken for a
//! whole one if nothing else of its unit does, so that a drive that reads the rest for nothing, or does
//! not read what it needs, returns the wrong token.

use super::tokens::order;
use engine::BigColumn;
use ftl::{Ftl, InUnit, Lpn, Ppn};
use std::collections::BTreeMap;

/// Masks of subunits that hold data.
#[derive(Clone)]
pub(super) struct Subunits {
    /// By logical unit, as hosts have written it.
    newest: BigColumn<Lpn, u64>,
    /// What power cuts may leave, if there may be any.
    durable: Option<Durable>,
}

#[derive(Clone)]
struct Durable {
    /// Of data that is not on flash yet: by unit, each with its token.
    under_way: BTreeMap<Lpn, Vec<(u64, u64)>>,
    /// By physical unit.
    on_flash: BigColumn<Ppn, u64>,
    /// True if trims outlast a power cut.
    trims_stay: bool,
}

impl Subunits {
    /// The present state of a drive whose map knows of subunits; `None` for another drive.
    pub fn new(ftl: &Ftl) -> Option<Self> {
        if !ftl.layout.has_subunits() {
            return None;
        }
        let mut newest = BigColumn::zeroed(ftl.layout.map_units as usize);
        for lpn in (0..ftl.layout.map_units).map(Lpn) {
            newest[lpn] = ftl.written(lpn);
        }
        Some(Self { newest, durable: None })
    }
    /// Prepares for power cuts.
    pub fn expect_cuts(&mut self, ftl: &Ftl, trims_stay: bool) {
        let mut on_flash = BigColumn::zeroed(ftl.layout.physical_units() as usize);
        for ppn in (0..ftl.layout.physical_units()).map(Ppn) {
            on_flash[ppn] = ftl.written_at(ppn);
        }
        self.durable = Some(Durable { under_way: BTreeMap::new(), on_flash, trims_stay });
    }
    /// True if a write of a part of a unit leaves nothing else of it.
    pub fn is_complete(&self, lpn: Lpn, part: InUnit) -> bool {
        self.newest[lpn] & !part.covered == 0
    }
    /// Notes a write of a part of a unit, after which the unit has a token.
    pub fn take_in(&mut self, lpn: Lpn, part: InUnit, token: u64) {
        self.newest[lpn] |= part.touched;
        if let Some(durable) = &mut self.durable {
            durable.under_way.entry(lpn).or_default().push((token, self.newest[lpn]));
        }
    }
    /// Notes that a unit is trimmed.
    pub fn trim(&mut self, lpn: Lpn) {
        self.newest[lpn] = 0;
    }
    /// Notes that a part of a unit is trimmed; returns true if nothing is left of the unit.
    pub fn trim_part(&mut self, ftl: &Ftl, lpn: Lpn, part: InUnit) -> bool {
        self.newest[lpn] &= !part.covered;
        if let Some(durable) = &mut self.durable {
            let under_way = durable.under_way.get_mut(&lpn).into_iter().flatten();
            under_way.for_each(|(_, mask)| *mask &= !part.covered);
            if let Some(ppn) = ftl.lookup(lpn).filter(|_| durable.trims_stay) {
                durable.on_flash[ppn] &= !part.covered;
            }
        }
        self.newest[lpn] == 0
    }
    /// Notes that data is on flash.
    pub fn program(&mut self, lpn: Lpn, ppn: Ppn, token: u64) {
        let Some(durable) = &mut self.durable else { return };
        let Some(under_way) = durable.under_way.get_mut(&lpn) else { return };
        if let Some((_, mask)) = under_way.iter().find(|(of, _)| *of == token) {
            durable.on_flash[ppn] = *mask;
        }
        under_way.retain(|(of, _)| order(*of) >= order(token));
    }
    /// Notes that a copy is on flash.
    pub fn copy(&mut self, from: Ppn, to: Ppn) {
        if let Some(durable) = &mut self.durable {
            durable.on_flash[to] = durable.on_flash[from];
        }
    }
    /// Checks what a drive that has recovered knows of a unit: as `saved`, if a capacitor has saved it
    /// with a token, and else as it is on flash.
    ///
    /// # Errors
    /// If the drive takes other subunits for written.
    pub fn recovered(
        &mut self,
        ftl: &Ftl,
        lpn: Lpn,
        saved: Option<(u64, u64)>,
    ) -> Result<(), String> {
        let durable = self.durable.as_mut().expect("the power may be cut");
        let on_flash = ftl.lookup(lpn).map_or(0, |ppn| durable.on_flash[ppn]);
        check(lpn, ftl.written(lpn), on_flash)?;
        let under_way = durable.under_way.remove(&lpn).unwrap_or_default();
        self.newest[lpn] = on_flash;
        if let Some((token, written)) = saved {
            let known = under_way.into_iter().find(|(of, _)| *of == token);
            known.map_or(Ok(()), |(_, expected)| check(lpn, written, expected))?;
            self.newest[lpn] = written;
            durable.under_way.insert(lpn, vec![(token, written)]);
        }
        Ok(())
    }
    /// Checks what a drive knows of all units.
    ///
    /// # Errors
    /// The first unit of which it takes other subunits for written.
    pub fn finish(&self, ftl: &Ftl) -> Result<(), String> {
        let mut units = (0..ftl.layout.host_units).map(Lpn);
        units.try_for_each(|lpn| check(lpn, ftl.written(lpn), self.newest[lpn]))
    }
}

fn check(lpn: Lpn, known: u64, expected: u64) -> Result<(), String> {
    if known == expected {
        return Ok(());
    }
    Err(format!(
        "the drive takes subunits {known:b} of {lpn:?} for written, hosts wrote {expected:b}"
    ))
}
