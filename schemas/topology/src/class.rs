//! Kinds of vertices, classes of links, shapes of networks.

use serde::{Deserialize, Serialize};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[repr(u8)]
        pub enum $name { $($(#[$each])* $variant,)* }

        impl $name {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The word in files and tables.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }
    };
}

words! {
    /// What a vertex is.
    VertexKind {
        /// A node: traffic begins and ends here.
        Host "host",
        /// A switch, whose ports are numbered from 1, or named by their jacks.
        Switch "switch",
        /// An Aries router, whose ports are tiles.
        Router "router",
    }
}

words! {
    /// What a link connects.
    LinkClass {
        /// A host and its switch or router.
        Host "host",
        /// A switch with hosts and one of the next level.
        Leaf "leaf",
        /// Switches of higher levels.
        Spine "spine",
        /// Switches of one level inside a group.
        Local "local",
        /// Switches of different groups.
        Global "global",
        /// Aries: inside a chassis, by backplane.
        Green "green",
        /// Aries: between the chassis of a group, by copper.
        Black "black",
        /// Aries: between groups, by optical cable.
        Blue "blue",
        /// A link of unknown class.
        Other "other",
    }
}

words! {
    /// How the switches are wired, as far as it decides what is a fault and how to draw it.
    Shape {
        /// Levels, with links between neighbouring ones alone.
        FatTree "fat_tree",
        /// Groups of Cray XC routers: chassis, slots, tiles.
        Aries "aries",
        /// Groups of routers that are all connected with each other.
        Dragonfly "dragonfly",
        /// Groups of leaves and spines, spines connected with other groups.
        DragonflyPlus "dragonfly_plus",
        /// Anything else.
        Other "other",
    }
}

impl Shape {
    /// Whether a link between two switches of one level contradicts the shape.
    pub fn is_tree(self) -> bool {
        self == Shape::FatTree
    }
}
