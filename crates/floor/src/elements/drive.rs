//! The drive: elements, their queues, the link, and the order of events.

use super::clean::Cleaning;
use super::flash::{Flash, NoFreeBlock};
use super::link::{Bus, Turn};
use super::round::{Batch, PageRequest};
use super::rules::{Refused, Request, Rules, Served};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Event that can be due.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Due {
    /// The data of a write are in the drive.
    DataCrossed { request: usize },
    /// The data of a read are at the host.
    ReadCrossed { request: usize },
    /// A page of a request is read or written.
    PageDone { request: usize },
    /// An element has ended its batch, or a cleaning.
    ElementFree { element: usize },
}

/// An element and its queue.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub flash: Flash,
    queue: VecDeque<PageRequest>,
    busy: bool,
    /// Cleanings without gain since the last that had some, or since the last batch.
    in_vain: usize,
}

/// A drive, and the requests that it serves.
#[derive(Debug)]
pub(super) struct Drive {
    rules: Rules,
    pub elements: Vec<Element>,
    bus: Bus,
    /// By time, then in the order in which they were planned.
    agenda: BinaryHeap<Reverse<(u64, u64, Due)>>,
    planned: u64,
    requests: Vec<Request>,
    /// Requests in progress, and requests that wait at the host.
    under_way: usize,
    at_host: VecDeque<usize>,
    /// Unfinished pages of each request.
    pages_left: Vec<u32>,
    served: Served,
}

impl Drive {
    pub fn new(rules: &Rules) -> Result<Self, Refused> {
        let flash = Flash::new(rules)?;
        let element = Element { flash, queue: VecDeque::new(), busy: false, in_vain: 0 };
        Ok(Self {
            rules: *rules,
            elements: vec![element; rules.elements as usize],
            bus: Bus::new(rules.link_ns),
            agenda: BinaryHeap::new(),
            planned: 0,
            requests: Vec::new(),
            under_way: 0,
            at_host: VecDeque::new(),
            pages_left: Vec::new(),
            served: Served::default(),
        })
    }

    /// Serves `requests` to the end. `watch` sees an element after each batch and each
    /// cleaning.
    pub fn serve(
        &mut self,
        requests: &[Request],
        mut watch: impl FnMut(&Flash),
    ) -> Result<Served, Refused> {
        self.refuse_faulty(requests)?;
        self.requests = requests.to_vec();
        self.pages_left = requests.iter().map(|request| request.pages).collect();
        self.served = Served { latencies_ns: vec![0; requests.len()], ..Served::default() };

        let mut arrived = 0;
        loop {
            let next_due = self.agenda.peek().map(|Reverse((at_ns, ..))| *at_ns);
            let next_arrival = requests.get(arrived).map(|request| request.at_ns);
            match (next_due, next_arrival) {
                (None, None) => return Ok(self.served.clone()),
                (Some(due), arrival) if arrival.is_none_or(|arrival| due <= arrival) => {
                    self.step(&mut watch)?;
                }
                _ => {
                    self.arrive(arrived, &mut watch)?;
                    arrived += 1;
                }
            }
        }
    }

    fn refuse_faulty(&self, requests: &[Request]) -> Result<(), Refused> {
        let exported: usize =
            self.elements.iter().map(|element| element.flash.layout.exported_pages()).sum();
        let mut last_ns = 0;
        for (index, request) in requests.iter().enumerate() {
            let ends = request.first_page.checked_add(u64::from(request.pages));
            let problem = if request.pages == 0 {
                "has no pages"
            } else if ends.is_none_or(|end| end > exported as u64) {
                "goes beyond the drive"
            } else if request.at_ns < last_ns {
                "arrives before the one before it"
            } else {
                last_ns = request.at_ns;
                continue;
            };
            return Err(Refused::Request { index, problem });
        }
        Ok(())
    }

    fn plan(&mut self, at_ns: u64, due: Due) {
        self.agenda.push(Reverse((at_ns, self.planned, due)));
        self.planned += 1;
    }

    fn step(&mut self, watch: &mut impl FnMut(&Flash)) -> Result<(), Refused> {
        let Some(Reverse((now_ns, _, due))) = self.agenda.pop() else { return Ok(()) };
        match due {
            Due::DataCrossed { request } => {
                self.enqueue(request, now_ns, watch)?;
                self.bus.release();
                self.serve_bus(now_ns, watch)
            }
            Due::ReadCrossed { request } => {
                self.bus.release();
                self.complete(request, now_ns, watch)?;
                self.serve_bus(now_ns, watch)
            }
            Due::PageDone { request } => self.page_done(request, now_ns, watch),
            Due::ElementFree { element } => {
                self.elements[element].busy = false;
                self.activate(element, now_ns, watch)
            }
        }
    }

    /// Takes a request of the host, which waits if enough are in progress.
    fn arrive(&mut self, index: usize, watch: &mut impl FnMut(&Flash)) -> Result<(), Refused> {
        if self.under_way == self.rules.outstanding as usize {
            self.at_host.push_back(index);
            return Ok(());
        }
        self.send(index, self.requests[index].at_ns, watch)
    }

    fn send(
        &mut self,
        index: usize,
        now_ns: u64,
        watch: &mut impl FnMut(&Flash),
    ) -> Result<(), Refused> {
        self.under_way += 1;
        self.bus.ask(Turn::Begin(index));
        self.serve_bus(now_ns, watch)
    }

    /// Gives the bus to the next requests as long as it is free. The beginning of a read and the
    /// end of a write carry no data and take no time.
    fn serve_bus(&mut self, now_ns: u64, watch: &mut impl FnMut(&Flash)) -> Result<(), Refused> {
        while let Some(turn) = self.bus.next() {
            let (Turn::Begin(index) | Turn::End(index)) = turn;
            let Request { pages, is_read, .. } = self.requests[index];
            let crossed_ns = now_ns + self.bus.takes_ns(pages);
            match (turn, is_read) {
                (Turn::Begin(request), false) => {
                    self.plan(crossed_ns, Due::DataCrossed { request });
                }
                (Turn::End(request), true) => self.plan(crossed_ns, Due::ReadCrossed { request }),
                (Turn::Begin(_), true) => {
                    self.enqueue(index, now_ns, watch)?;
                    self.bus.release();
                }
                (Turn::End(_), false) => {
                    self.bus.release();
                    self.complete(index, now_ns, watch)?;
                }
            }
        }
        Ok(())
    }

    /// Passes the pages of a request to their elements, one after the other.
    fn enqueue(
        &mut self,
        index: usize,
        now_ns: u64,
        watch: &mut impl FnMut(&Flash),
    ) -> Result<(), Refused> {
        let Request { first_page, pages, is_read, .. } = self.requests[index];
        let elements = self.elements.len() as u64;
        for page in first_page..first_page + u64::from(pages) {
            let element = (page % elements) as usize;
            let page = (page / elements) as usize;
            self.elements[element].queue.push_back(PageRequest { request: index, page, is_read });
            self.activate(element, now_ns, watch)?;
        }
        Ok(())
    }

    /// Starts work on an idle element: cleaning first, then its queue.
    fn activate(
        &mut self,
        number: usize,
        now_ns: u64,
        watch: &mut impl FnMut(&Flash),
    ) -> Result<(), Refused> {
        let element = &mut self.elements[number];
        let waits = !element.queue.is_empty();
        if element.busy || !(waits || self.rules.background_cleaning) {
            return Ok(());
        }
        let no_free_block =
            |_: NoFreeBlock| Refused::NoFreeBlock { element: number, at_ns: now_ns };
        if let Some(cleaning) = element.flash.clean_if_low().map_err(no_free_block)? {
            element.busy = true;
            watch(&element.flash);
            return self.cleaned(number, cleaning, now_ns);
        }
        if !waits {
            return Ok(());
        }
        let batch = Batch::take(&mut element.queue, element.flash.layout.units);
        let done = element.flash.serve(&batch, now_ns).map_err(no_free_block)?;
        element.busy = true;
        element.in_vain = 0;
        watch(&element.flash);
        self.served.duplicates += batch.duplicates.len() as u64;
        for page in &done {
            self.plan(page.at_ns, Due::PageDone { request: page.request });
        }
        let last_ns = done.iter().map(|page| page.at_ns).max().unwrap_or(now_ns);
        self.plan(last_ns, Due::ElementFree { element: number });
        Ok(())
    }

    /// Counts a cleaning that has begun. If two cleanings of the same plane gain nothing, with
    /// nothing written in between, nothing can be gained, because the first seals the open block.
    /// Twice as many cleanings as planes reach every plane twice.
    fn cleaned(&mut self, number: usize, cleaning: Cleaning, now_ns: u64) -> Result<(), Refused> {
        self.served.cleans += cleaning.blocks;
        self.served.pages_moved += cleaning.pages_moved;
        self.served.clean_ns += cleaning.cost_ns;
        self.plan(now_ns + cleaning.cost_ns, Due::ElementFree { element: number });
        let element = &mut self.elements[number];
        element.in_vain = if cleaning.gained == 0 { element.in_vain + 1 } else { 0 };
        if element.in_vain < 2 * element.flash.layout.planes {
            return Ok(());
        }
        Err(Refused::CleansInVain { element: number, at_ns: now_ns })
    }

    /// Ends the read or write of a page. After the last page the request needs the bus, to end.
    fn page_done(
        &mut self,
        index: usize,
        now_ns: u64,
        watch: &mut impl FnMut(&Flash),
    ) -> Result<(), Refused> {
        self.pages_left[index] -= 1;
        if self.pages_left[index] > 0 {
            return Ok(());
        }
        self.bus.ask(Turn::End(index));
        self.serve_bus(now_ns, watch)
    }

    /// Ends a request. The host sends the next waiting one.
    fn complete(
        &mut self,
        index: usize,
        now_ns: u64,
        watch: &mut impl FnMut(&Flash),
    ) -> Result<(), Refused> {
        self.served.latencies_ns[index] = now_ns - self.requests[index].at_ns;
        self.under_way -= 1;
        match self.at_host.pop_front() {
            Some(next) => self.send(next, now_ns, watch),
            None => Ok(()),
        }
    }

    /// Audits all elements.
    ///
    /// # Panics
    /// If a count does not match the content.
    pub fn audit(&self) {
        self.elements.iter().for_each(|element| element.flash.audit());
    }
}
