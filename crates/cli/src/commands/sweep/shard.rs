//! Value of `--shard i/n`: the share of all runs that this process makes.

/// Share `index` of `count`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// The share that has all runs.
    pub(super) const ALL: Self = Self { index: 1, count: 1 };

    /// Whether run number `run` of the sweep, from 0, is in this share. Neighbours go to different shares, so
    /// that the slow corner of a grid is spread over all.
    pub(super) fn has(&self, run: usize) -> bool {
        run % self.count == self.index - 1
    }

    /// Whether the share contains all runs.
    pub(super) fn is_all(&self) -> bool {
        self.count == 1
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not of the form i/n with i from 1 to n, like 2/3");
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let shard = Self {
            index: index.trim().parse().map_err(|_| wrong())?,
            count: count.trim().parse().map_err(|_| wrong())?,
        };
        if (1..=shard.count).contains(&shard.index) { Ok(shard) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_in_exactly_one_share() {
        let shards = ["1/3", "2/3", "3/3"].map(|text| text.parse::<Shard>().expect("sound"));
        for run in 0..20 {
            assert_eq!(shards.iter().filter(|shard| shard.has(run)).count(), 1);
        }
        assert!(Shard::ALL.has(0) && Shard::ALL.has(19));
    }

    #[test]
    fn a_share_outside_its_number_is_refused() {
        for text in ["", "1", "0/3", "4/3", "1/0", "a/3", "1/3/3", "-1/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text:?}");
        }
    }
}
