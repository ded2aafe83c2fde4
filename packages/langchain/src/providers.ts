/**
 * Providers that a name such as `groq:llama-3.3-70b` can begin with: the package of each, the variable of its
 * key, and the names of common settings in its LangChain class.
 */

/** Provider and name of a model. */
export interface ModelIdentity {
  readonly provider: string
  readonly name: string
}

/** A supported provider. */
export interface ProviderFacts {
  /** The npm package of its LangChain class. */
  readonly package: string
  /** The environment variable of its key; absent when it needs none, or more than one. */
  readonly keyVariable?: string
  /** Field for the maximum length of an answer. @default 'maxTokens' */
  readonly limitField?: string
  /** Fields for the address; absent when the class has none that is known here. */
  readonly addressFields?: (
    baseUrl: string,
    modelOptions: object,
  ) => Readonly<Record<string, unknown>>
  /** Whether its class never reports a finish reason. @default false */
  readonly hidesFinishReason?: boolean
}

/** The OpenAI client has its address among other settings, which are preserved. */
function clientAddress(baseUrl: string, modelOptions: object): Readonly<Record<string, unknown>> {
  const settings = 'configuration' in modelOptions ? modelOptions.configuration : {}
  return { configuration: { baseURL: baseUrl, ...(typeof settings === 'object' && settings) } }
}

const addressField = (baseUrl: string): Readonly<Record<string, unknown>> => ({ baseUrl })

/** Providers by the name that `langchainModel` accepts. */
export const PROVIDERS: Readonly<Record<string, ProviderFacts>> = {
  anthropic: {
    package: '@langchain/anthropic',
    keyVariable: 'ANTHROPIC_API_KEY',
    addressFields: (baseUrl) => ({ anthropicApiUrl: baseUrl }),
  },
  aws: { package: '@langchain/aws' },
  azure_openai: { package: '@langchain/openai', keyVariable: 'AZURE_OPENAI_API_KEY' },
  bedrock: { package: '@langchain/aws' },
  cerebras: { package: '@langchain/cerebras', keyVariable: 'CEREBRAS_API_KEY' },
  cohere: {
    package: '@langchain/cohere',
    keyVariable: 'COHERE_API_KEY',
    hidesFinishReason: true,
  },
  deepseek: { package: '@langchain/deepseek', keyVariable: 'DEEPSEEK_API_KEY' },
  fireworks: { package: '@langchain/fireworks', keyVariable: 'FIREWORKS_API_KEY' },
  google: {
    package: '@langchain/google',
    keyVariable: 'GOOGLE_API_KEY',
    limitField: 'maxOutputTokens',
  },
  'google-genai': {
    package: '@langchain/google-genai',
    keyVariable: 'GOOGLE_API_KEY',
    limitField: 'maxOutputTokens',
    addressFields: addressField,
  },
  'google-vertexai': { package: '@langchain/google-vertexai', limitField: 'maxOutputTokens' },
  'google-vertexai-web': {
    package: '@langchain/google-vertexai-web',
    limitField: 'maxOutputTokens',
  },
  groq: {
    package: '@langchain/groq',
    keyVariable: 'GROQ_API_KEY',
    addressFields: addressField,
  },
  langsmith: { package: '@langchain/openai', keyVariable: 'LANGSMITH_API_KEY' },
  mistral: { package: '@langchain/mistralai', keyVariable: 'MISTRAL_API_KEY' },
  mistralai: { package: '@langchain/mistralai', keyVariable: 'MISTRAL_API_KEY' },
  ollama: {
    package: '@langchain/ollama',
    limitField: 'numPredict',
    addressFields: addressField,
  },
  openai: {
    package: '@langchain/openai',
    keyVariable: 'OPENAI_API_KEY',
    addressFields: clientAddress,
  },
  perplexity: { package: '@langchain/perplexity', keyVariable: 'PERPLEXITY_API_KEY' },
  together: { package: '@langchain/together-ai', keyVariable: 'TOGETHER_AI_API_KEY' },
  xai: { package: '@langchain/xai', keyVariable: 'XAI_API_KEY' },
}

/** Returns the provider with that name; undefined when it is not supported. */
export function providerFacts(provider: string): ProviderFacts | undefined {
  return Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined
}

/** OpenAI: gpt-4o of August 2024 and later, except audio, speech and search variants. */
const OPENAI =
  /^(?:ft:)?(?:gpt-4o(?!.*(?:2024-05-13|audio|realtime|search|transcribe|tts))|gpt-4\.1|gpt-[5-9]|o1(?!-(?:mini|preview))|o[34])/

/** Anthropic: all kinds of Claude since 4.5; earlier names began with the number or ended with a date. */
const ANTHROPIC = /^claude-[a-z]+-(?:4-[5-9]|[5-9](?!\d))/

/**
 * Models that are known to follow a schema natively. The decision is made by name, before a model is loaded:
 * LangChain's profiles come with its packages, and miss some models that have the mode.
 */
const STRUCTURED_MODELS: ReadonlyMap<string, RegExp> = new Map([
  ['openai', OPENAI],
  ['anthropic', ANTHROPIC],
])

/**
 * Returns whether the provider documents a mode for the model that enforces a JSON Schema, with tools and without.
 *
 * @see https://platform.openai.com/docs/guides/structured-outputs
 * @see https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
export function hasStructuredMode({ provider, name }: ModelIdentity): boolean {
  return STRUCTURED_MODELS.get(provider)?.test(name) ?? false
}
