/** For the other packages of Tutti only: its names may change in every version. */
export type { ScriptEntry } from './scripted-model.ts'
export type { ChatModelSetup } from './chat-model-cases.ts'
