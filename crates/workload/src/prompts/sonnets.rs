//! Verse to make prompts of.

/// Eight of Shakespeare's sonnets, line by line: numbers 12, 18, 29, 30, 55, 73, 116 and 130, in modern spelling. They were
/// printed in 1609 and belong to everybody. Their order is part of what a seed means.
#[rustfmt::skip] // As verse.
pub(super) const SONNETS: [&str; 112] = [
    "When I do count the clock that tells the time,",
    "And see the brave day sunk in hideous night;",
    "When I behold the violet past prime,",
    "And sable curls all silvered o'er with white;",
    "When lofty trees I see barren of leaves,",
    "Which erst from heat did canopy the herd,",
    "And summer's green all girded up in sheaves,",
    "Borne on the bier with white and bristly beard,",
    "Then of thy beauty do I question make,",
    "That thou among the wastes of time must go,",
    "Since sweets and beauties do themselves forsake",
    "And die as fast as they see others grow;",
    "And nothing 'gainst Time's scythe can make defence",
    "Save breed, to brave him when he takes thee hence.",

    "Shall I compare thee to a summer's day?",
    "Thou art more lovely and more temperate:",
    "Rough winds do shake the darling buds of May,",
    "And summer's lease hath all too short a date;",
    "Sometime too hot the eye of heaven shines,",
    "And often is his gold complexion dimmed;",
    "And every fair from fair sometime declines,",
    "By chance or nature's changing course untrimmed;",
    "But thy eternal summer shall not fade,",
    "Nor lose possession of that fair thou ow'st;",
    "Nor shall death brag thou wander'st in his shade,",
    "When in eternal lines to time thou grow'st:",
    "So long as men can breathe or eyes can see,",
    "So long lives this, and this gives life to thee.",

    "When, in disgrace with fortune and men's eyes,",
    "I all alone beweep my outcast state,",
    "And trouble deaf heaven with my bootless cries,",
    "And look upon myself and curse my fate,",
    "Wishing me like to one more rich in hope,",
    "Featured like him, like him with friends possessed,",
    "Desiring this man's art and that man's scope,",
    "With what I most enjoy contented least;",
    "Yet in these thoughts myself almost despising,",
    "Haply I think on thee, and then my state,",
    "Like to the lark at break of day arising",
    "From sullen earth, sings hymns at heaven's gate;",
    "For thy sweet love remembered such wealth brings",
    "That then I scorn to change my state with kings.",

    "When to the sessions of sweet silent thought",
    "I summon up remembrance of things past,",
    "I sigh the lack of many a thing I sought,",
    "And with old woes new wail my dear time's waste:",
    "Then can I drown an eye, unused to flow,",
    "For precious friends hid in death's dateless night,",
    "And weep afresh love's long since cancelled woe,",
    "And moan th' expense of many a vanished sight:",
    "Then can I grieve at grievances foregone,",
    "And heavily from woe to woe tell o'er",
    "The sad account of fore-bemoaned moan,",
    "Which I new pay as if not paid before.",
    "But if the while I think on thee, dear friend,",
    "All losses are restored and sorrows end.",

    "Not marble nor the gilded monuments",
    "Of princes shall outlive this powerful rhyme,",
    "But you shall shine more bright in these contents",
    "Than unswept stone besmeared with sluttish time.",
    "When wasteful war shall statues overturn,",
    "And broils root out the work of masonry,",
    "Nor Mars his sword nor war's quick fire shall burn",
    "The living record of your memory.",
    "'Gainst death and all-oblivious enmity",
    "Shall you pace forth; your praise shall still find room",
    "Even in the eyes of all posterity",
    "That wear this world out to the ending doom.",
    "So, till the judgment that yourself arise,",
    "You live in this, and dwell in lovers' eyes.",

    "That time of year thou mayst in me behold",
    "When yellow leaves, or none, or few, do hang",
    "Upon those boughs which shake against the cold,",
    "Bare ruined choirs, where late the sweet birds sang.",
    "In me thou see'st the twilight of such day",
    "As after sunset fadeth in the west,",
    "Which by and by black night doth take away,",
    "Death's second self, that seals up all in rest.",
    "In me thou see'st the glowing of such fire",
    "That on the ashes of his youth doth lie,",
    "As the death-bed whereon it must expire,",
    "Consumed with that which it was nourished by.",
    "This thou perceiv'st, which makes thy love more strong,",
    "To love that well which thou must leave ere long.",

    "Let me not to the marriage of true minds",
    "Admit impediments. Love is not love",
    "Which alters when it alteration finds,",
    "Or bends with the remover to remove:",
    "O no! it is an ever-fixed mark",
    "That looks on tempests and is never shaken;",
    "It is the star to every wandering bark,",
    "Whose worth's unknown, although his height be taken.",
    "Love's not Time's fool, though rosy lips and cheeks",
    "Within his bending sickle's compass come;",
    "Love alters not with his brief hours and weeks,",
    "But bears it out even to the edge of doom.",
    "If this be error and upon me proved,",
    "I never writ, nor no man ever loved.",

    "My mistress' eyes are nothing like the sun;",
    "Coral is far more red than her lips' red;",
    "If snow be white, why then her breasts are dun;",
    "If hairs be wires, black wires grow on her head.",
    "I have seen roses damasked, red and white,",
    "But no such roses see I in her cheeks;",
    "And in some perfumes is there more delight",
    "Than in the breath that from my mistress reeks.",
    "I love to hear her speak, yet well I know",
    "That music hath a far more pleasing sound;",
    "I grant I never saw a goddess go;",
    "My mistress, when she walks, treads on the ground:",
    "And yet, by heaven, I think my love as rare",
    "As any she belied with false compare.",
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::SONNETS;

    #[test]
    fn eight_sonnets_of_fourteen_plain_lines_each() {
        assert_eq!(SONNETS.len(), 8 * 14);
        let distinct: HashSet<&str> = SONNETS.into_iter().collect();
        assert_eq!(distinct.len(), SONNETS.len());
        for line in SONNETS {
            assert!(line.is_ascii() && line == line.trim() && !line.contains("  "), "{line}");
            assert!((5..=11).contains(&line.split(' ').count()), "{line}");
        }
    }

    #[test]
    fn each_sonnet_ends_in_a_full_stop_and_a_couplet() {
        for sonnet in SONNETS.chunks(14) {
            assert!(sonnet.last().is_some_and(|line| line.ends_with('.')));
        }
    }
}
