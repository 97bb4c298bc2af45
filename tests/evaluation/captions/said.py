"""Captions for the tests: three of each picture, written with everything that is hard to cut."""

SAID = [
    [
        "A man in a red T-shirt doesn't look at the dog's ball.",
        "The man, who wears a red shirt, isn't looking at his dog.",
        "a man and a dog with a ball",
    ],
    [
        'Two girls hold a sign that says "No parking".',
        "Two young girls holding up a sign (it says 'No parking')",
        "Girls with a sign: no parking!",
    ],
    [
        "A black-and-white cat sleeps on Mr. Smith's old sofa",
        "The cat is asleep on a sofa -- it is black and white.",
        "A cat, half-asleep, on the couch...",
    ],
    [
        "Children play football in the U.S. at 5 p.m.",
        "Some kids are playing soccer at 5:30 in the afternoon.",
        "Children's football game; about 1,000 people watch it",
    ],
    [
        "A woman rides her bicycle up the hill",
        "a woman riding a bike uphill",
        "A cyclist is climbing a steep hill on St. John's Road.",
    ],
    [
        "People can't cross the street because it's flooded.",
        "They cannot cross the flooded street.",
        "A flooded street with people who'd like to cross it",
    ],
    [
        "An old man sells apples & pears at $2 a kilo.",
        "The old man's apples and pears cost 50% more than last year's.",
        "A fruit seller and his apples/pears",
    ],
    [
        "The boy's about to jump; he's in mid-air!",
        "A boy jumping in the air",
        "a jumping boy, his arms up in the air",
    ],
    [
        "A rock 'n' roll band plays on a 3-metre-high stage",
        "The band is playing rock'n'roll music on stage.",
        "Musicians on a high stage",
    ],
    [
        "There are 24 red and white balloons over the sea",
        "balloons above the ocean",
        "Red balloons and white balloons fly over the water.",
    ],
]

CAPTIONS = [said[0] for said in SAID]
REFERENCES = [said[1:] for said in SAID]
