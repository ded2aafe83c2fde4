/**
 * Rules of the language check that a program can see. A rule finds a phrase that a reader has to untangle; it says nothing
 * about a text that it accepts.
 */

/** Words and phrases, with what to write instead. */
export const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:nobody|somebody|whoever|whatever|whichever|whom)\b/i, 'name the actor or the thing'],
  [/\bwho (?:asks?|asked|came|comes|calls?|called|reads?|waits?|sends?)\b/i, 'caller, reader'],
  [/\banew\b/i, 'again'],
  [/\bbeside\b/i, 'next to, in addition to'],
  [/\b(?:goes|go|went|going|gone) on\b/i, 'continues'],
  [/\b(?:comes?|came|coming) to an end\b/i, 'ends'],
  [/\b(?:comes?|came|coming) back\b/i, 'returns'],
  [/\b(?:tells?|told|telling)\b(?! apart)/i, 'report, notify, emit, log, show'],
  [/\bsa(?:ys?|id|ying) so\b/i, 'say what is reported, and how'],
  [/\blet(?:s|ting)? go\b/i, 'release'],
  [/\bg(?:ives?|ave|iven|iving) up\b/i, 'release, stop, fail'],
  [/\bst(?:ands?|ood|anding) still\b/i, 'drain, stop'],
  [/(?<!\bencryption )\bat rest\b/i, 'unowned, idle'],
  [/\bmend(?:s|ed|ing)?\b/i, 'coerce, repair, fix'],
  [/\b(?:wish(?:es|ed)?|patience|askers?)\b/i, 'command, timeout, caller'],
  [/\bin one piece\b/i, 'atomically, in one transaction'],
  [/\b(?:news|hears?|heard)\b/i, 'notification, notified'],
  [/\b(?:an)?other sites?\b/i, 'cross-origin'],
  [/\bany ?more\b/i, 'no longer'],
  [/\bas far as\b/i, 'up to'],
  [/(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b)/i, 'is not, cannot'],
  [/\bnothing (?:is|are|was|were|comes|came|goes|went|happens|happened)\b/i, 'not, never'],
  [/\bnone of which\b/i, 'not'],
  [/\bbec(?:ame|omes?|oming) of\b/i, 'outcome'],
  [/\ball the same\b/i, 'anyway, still'],
  [/\b(?:is|are|was|were) (?:not )?there[.,;:)]/i, 'exists, is missing'],
  [/\b(?:is|are|was|were|be|been) looked (?:at|for)\b/i, 'checked, polled'],
  [
    /\b(?:is|are|was|were|be|been) kept\b(?! (?:in memory|open|alive|free|short|small))/i,
    'stored, retained',
  ],
  [/\b(?:is|are|was|were) to be\b/i, 'must, will'],
  [/\bof (?:its|their|his|her|one's) own\b/i, 'its own …, separate'],
  [/\bon (?:its|the|their) way\b/i, 'pending, in flight'],
  [
    /\b(?:in vain|thereby|whereby|hereby|lest|ought|shall|sign of life|signs of life)\b/i,
    'plain words',
  ],
  [/\bthe other side\b/i, 'the peer, the server, the client'],
  [/\b(?:gates?|desks?)\b/i, 'review'],
  [/\bfigures\b/i, 'metrics, numbers, results'],
  [/\bdoors?\b/i, 'entry point'],
  [/\bthe seed\b|§/i, 'state the rule, or link a public specification'],
  [
    /\b(?:behaviour|colour|favour|honour|neighbour|analyse|centre|licence|catalogue|whilst|canceled|canceling|\w+(?:alis|anis|gnis|imis|aris|oris)(?:e|es|ed|ing|ation))s?\b/i,
    'American spelling; "cancelled" and "cancelling" have two l',
  ],
]

/** Words before a "that" or "which" that begins no relative clause: verbs and prepositions. */
const BEFORE_OTHERS =
  'so|such|do|does|now|note|fact|except|like|is|are|was|means?|ensures?|shows?|states?|says?|said|expects?|checks?|knows?|sees?|' +
  'assumes?|reports?|requires?|proves?|finds?|at|in|of|from|for|to|with|by|until|after|before'
const PRONOUN = `(?<!\\b(?:${BEFORE_OTHERS}) )\\b(?:that|which|whose|who)\\b`

/** A relative clause that begins within five words of another one, without a conjunction between them. */
const NESTED_CLAUSES = new RegExp(
  `${PRONOUN}(?: (?!(?:and|or|but|so|if|when|while|because|than|as)\\b)[\\w’'-]+){1,4} ${PRONOUN}` +
    '(?! (?:the|an?|its?|they|this|of|time|moment|point|run|call)\\b)',
  'i',
)

/** Grammar that a reader has to untangle, and nouns that name nothing. A pattern stays within a sentence. */
export const GRAMMAR: readonly (readonly [RegExp, string])[] = [
  [
    /\bof the\b(?:[ ’'-]+[\w’'-]+){1,6}?(?<! and| or| not| than| nor) of the\b/i,
    'use noun adjuncts, such as "run id"',
  ],
  [
    /\bof (?:which|whom)\b|\b(?:in|on|to|from|by|with|at) (?:whom|whose)\b/i,
    'two sentences, or a noun phrase',
  ],
  [NESTED_CLAUSES, 'at most one relative clause in a sentence'],
  [
    /\bplaces?\b(?! (?:an?|the|orders?)\b)(?<!\b(?:in|into|takes?) place)/i,
    'index, position, path, slot, location',
  ],
  [
    /\b(?:(?:the|all|as|no|any|every|each|of|what (?:is|was)) given|given (?:to|by|in|with|at|as)|(?:is|are|was|were|be|been) given)\b/i,
    'provided, specified, passed, set',
  ],
  [
    /\b(?:what|as) (?:is |was |are )?(?:shown|asked|made)\b|\b(?:is|are|was|were|be|been) made (?:of|from)\b/i,
    'displayed, requested, created, consists of',
  ],
]

/** A statement or a schema, whose names a database reads. */
export const SQL = /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ORDER BY|VALUES|RETURNING)\b/

/** Names of limits that do not begin with MAX_ or MIN_. */
export const LIMIT_NAME = /\b(?:MOST|LEAST|LONGEST|SHORTEST|FEWEST)_[A-Z0-9_]+/g

/** First words of a docstring that begins with a clause. */
export const CLAUSE =
  /^(?:What|Who|Whom|Whose|How|Where|Why|Which|Whoever|Whatever|Whichever|When (?:it|the|a|an|this|that|its)) /

/** Words of a docstring that say nothing about the name that it documents. */
const FILLERS = new Set(
  'a an the of for to in on by with one its it is are whether which that this option options parameter parameters setting settings props property properties'.split(
    ' ',
  ),
)

/** Whether each word of a docstring is a word of the name, or it only says whose options the name contains. */
export function repeatsName(docstring: string, name: string): boolean {
  if (!/^[\w\s'’-]+\.?$/.test(docstring)) return false
  if (
    /^(?:Options|Settings|Parameters) (?:of|for) (?:an? |the |one )?[\w-]+(?: [\w-]+)?(?: tool)?\.$/.test(
      docstring,
    ) &&
    /(?:Options|Settings)$/.test(name)
  )
    return true
  const stem = (word: string): string => word.toLowerCase().replace(/(?:ies|es|s|ed|ing|e|y)$/, '')
  const known = new Set(name.split(/(?=[A-Z])|_/).map(stem))
  return docstring
    .split(/[^\w]+/)
    .filter((word) => word !== '' && !FILLERS.has(word.toLowerCase()))
    .every((word) => known.has(stem(word)))
}

/** Whether the head of a file calls a class with mutable private fields "Pure". */
export function claimsPurity(text: string): boolean {
  return /^\/\*\*(?:(?!\*\/)[\s\S])*?\bPure\b/.test(text) && /^ {2}#\w+(?:\??:| =)/m.test(text)
}
