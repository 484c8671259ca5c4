//! From arguments to shared prefixes.

use std::num::NonZeroU64;

use fizeau::core::Tokens;
use fizeau::workload::{Popularity, SharedPrefix};

use crate::args::PrefixArgs;
use crate::exit::Fail;

/// What prompts begin with that others begin with too.
pub(crate) fn prefix(args: &PrefixArgs) -> Result<SharedPrefix, Fail> {
    let (Some(groups), Some(tokens)) = (args.prefix_groups, args.prefix_len) else {
        return Ok(match args.random_prefix_len {
            0 => SharedPrefix::None,
            tokens => SharedPrefix::Common { tokens: Tokens::new(tokens) },
        });
    };
    refuse_if!(
        args.random_prefix_len > 0,
        "--random-prefix-len shares one prefix among all requests, --prefix-groups several: \
         give one of them"
    );
    refuse_if!(tokens == 0, "--prefix-len 0: give the prefixes at least 1 token");
    Ok(SharedPrefix::Groups {
        groups: NonZeroU64::new(groups)
            .ok_or_else(|| usage!("--prefix-groups 0: give at least 1"))?,
        tokens: Tokens::new(tokens),
        share: args.prefix_share.unwrap_or(1.0),
        popularity: match args.prefix_zipf {
            None => Popularity::Uniform,
            Some(exponent) => Popularity::Zipf { exponent },
        },
    })
}
