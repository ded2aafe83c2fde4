/** For the other packages of Tutti only: its names may change in every version. */
export { providerFacts, type ProviderFacts } from './providers.ts'
export type { AnyLangChainTool, FromLangChainToolOptions } from './tools/from-langchain-tool.ts'
export type { LangChainTool, ToLangChainToolOptions } from './tools/to-langchain-tool.ts'
