/**
 * The cases that every adapter of the model port passes. An adapter's test makes a model whose backend
 * is told what to answer, and runs each case; a case throws when the adapter breaks the contract.
 */
import type { ScriptedReply } from './scripted-model.ts'
import type { ChatModel } from '@tutti/ensemble'
/** Makes a model whose next answers are `script`. */
export type ChatModelSetup = (script: readonly (ScriptedReply | Error)[]) => Promise<ChatModel>
/** One case: its name is the rule. */
export interface ChatModelCase {
  readonly name: string
  run(setup: ChatModelSetup): Promise<void>
}
/** The cases of the model port. */
export declare const chatModelCases: readonly ChatModelCase[]
