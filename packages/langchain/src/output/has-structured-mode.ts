/**
 * Which models are known to keep to a schema by themselves. It must be known before a model is loaded,
 * so names decide: the profiles of LangChain come with its packages, and do not know the mode of all
 * models that have it. A model that is not known here can be said to have it by the option.
 */
import type { ModelIdentity } from '../options.ts'

/** OpenAI: gpt-4o of August 2024 and later, but for its kinds that listen, speak or search. */
const OPENAI =
  /^(?:ft:)?(?:gpt-4o(?!.*(?:2024-05-13|audio|realtime|search|transcribe|tts))|gpt-4\.1|gpt-[5-9]|o1(?!-(?:mini|preview))|o[34])/

/** Anthropic: all kinds of Claude from 4.5 on; before, the number came first or was a date. */
const ANTHROPIC = /^claude-[a-z]+-(?:4-[5-9]|[5-9](?!\d))/

const KNOWN: ReadonlyMap<string, RegExp> = new Map([
  ['openai', OPENAI],
  ['anthropic', ANTHROPIC],
])

/**
 * Whether the provider's documentation gives the model a mode that enforces a JSON Schema, also beside
 * tools.
 *
 * @see https://platform.openai.com/docs/guides/structured-outputs
 * @see https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
export function hasStructuredMode({ provider, name }: ModelIdentity): boolean {
  return KNOWN.get(provider)?.test(name) ?? false
}
