/**
 * LangChain chat models behind the model port. To run: `langchainModel`. Importing this loads nothing
 * of LangChain; the first call of a model does.
 */
export { langchainModel } from './langchain-model.ts'
export type { LangchainModelOptions, LangchainSource } from './options.ts'
