/** An ensemble whose second task is reviewed, and whose tool can require approval. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, modelCatalog, task, type Ensemble, type ReviewSettings } from '@tutti/ensemble'
import { scriptedModel, type ScriptedModel } from '@tutti/testing'

/** The ensemble, and records of its calls. */
export interface ReviewedEnsemble {
  readonly ensemble: Ensemble
  readonly model: ScriptedModel
  /** Another model, `other` in the catalog. */
  readonly other: ScriptedModel
  readonly models: ReturnType<typeof modelCatalog>
  /** The inputs of the tool calls. */
  readonly sent: readonly string[]
}

/** Creates the ensemble: `draft`, then `send`, whose output is reviewed, then `file`. */
export function reviewedEnsemble({
  review = { timeoutMs: Infinity },
  approval = false,
}: {
  readonly review?: ReviewSettings | false
  readonly approval?: boolean
} = {}): ReviewedEnsemble {
  const sent: string[] = []
  const mail = defineTool({
    name: 'mail',
    description: 'Sends a letter',
    input: Type.Object({ text: Type.String() }),
    idempotent: false,
    requireApproval: approval && { timeoutMs: Infinity },
    async execute({ text }) {
      sent.push(text)
      return `sent ${text}`
    },
  })
  const reply = (name: string) =>
    scriptedModel(({ messages, tools }) => {
      const last = messages.at(-1)
      if (last?.role === 'tool') return `${name}: ${last.content}`
      const again = messages.some(({ content }) => content.includes('Revision'))
      if (tools.length > 0 && !again)
        return { toolCalls: [{ name: 'mail', arguments: { text: 'hello' } }] }
      return again ? `${name} again` : `${name} done`
    })
  const [model, other] = [reply('main'), reply('other')]
  const draft = task({ name: 'draft', description: 'Draft' })
  const send = task({
    name: 'send',
    description: 'Send',
    context: [draft],
    tools: [mail],
    review,
  })
  const file = task({ name: 'file', description: 'File', context: [send] })
  return {
    ensemble: ensemble({ name: 'desk', tasks: [draft, send, file], model }),
    model,
    other,
    models: modelCatalog({ other }),
    sent,
  }
}
