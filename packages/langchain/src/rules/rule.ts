/** Types of the table of provider rules. */
import type { Message } from '@tutti/ensemble/adapter'

/** Something that a provider refuses. */
export interface Rule {
  /** Public page or issue that documents the refusal. */
  readonly source: string
  /**
   * Error text of the provider. `{at}` is the path of the part in the request, `{value}` the refused value, and
   * `{length}` its length.
   */
  readonly refusal: string
}

/** Names that a provider accepts, and the form of a replacement for others. */
export interface NameRule extends Rule {
  /** Matches a whole name that is accepted. */
  readonly pattern: RegExp
  /** Length of the longest replacement, in characters. */
  readonly maxLength: number
  /** Separator within a replacement; with an empty one, a replacement is a hash of exactly `maxLength` characters. */
  readonly separator: '_' | ''
}

/** Messages whose content may not be blank. */
export interface BlankRule extends Rule {
  readonly roles: readonly Message['role'][]
  /** Whether text of whitespace alone counts as blank, or only empty text. */
  readonly blank: 'empty' | 'whitespace'
}

/** Keywords that the input schema of a tool may have. */
export interface KeywordRule extends Rule {
  readonly keywords: ReadonlySet<string>
  /** Accepted values of `format`, by type. */
  readonly formats: Readonly<Record<string, readonly string[]>>
}

/** Everything that one provider refuses; an absent rule means that it accepts everything. */
export interface ProviderRules {
  /** Lone surrogates in any text. */
  readonly surrogates: Rule
  /** Ids of tool calls. */
  readonly toolCallId?: NameRule
  /** Two tool calls of a conversation with the same id. */
  readonly uniqueToolCallIds?: Rule
  /** Names of tools. */
  readonly toolName?: NameRule
  /** Names of properties in input schemas, at any depth. */
  readonly propertyName?: NameRule
  /** Messages without text. An assistant message with tool calls needs none. */
  readonly blank?: BlankRule
  /** System messages anywhere but at the start. */
  readonly systemFirst?: Rule
  /** A conversation that begins with an assistant message. */
  readonly userFirst?: Rule
  /** Two consecutive messages of the user, or of the assistant. */
  readonly alternation?: Rule
  /** A message of the user right after the result of a tool. */
  readonly assistantAfterTool?: Rule
  /** A conversation that ends with an assistant message. */
  readonly userLast?: Rule
  /** A last assistant message that ends with whitespace. */
  readonly trailingSpace?: Rule
  /** Array schemas without `items`. */
  readonly arrayItems?: Rule
  /** Tuples in the form of earlier drafts of JSON Schema, a list in `items`. */
  readonly tupleItems?: Rule
  /** An input schema without the keyword `properties`. */
  readonly objectProperties?: Rule
  /** An input schema without any property: a tool without input must have no schema. */
  readonly emptyObject?: Rule
  /** Keywords of input schemas. */
  readonly keywords?: KeywordRule
}
