/** When a call has begun that must not be made twice. */
import { defineTextTool, TuttiError, type AgentTool } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { ensemble, task, type TaskDefinition } from '../src/index.ts'
import { endOf, joined, startKept, type KeptRun } from './kept-run.ts'
import { fakeClock, scriptedModel } from './testing.ts'
import { nextTurn } from './watch-run.ts'

import type { ModelRequest } from '../src/index.ts'

const asks = { toolCalls: [{ name: 'send', arguments: { input: 'x' } }] }

function send(sent: string[], requireApproval: boolean, kept: KeptRun[] = []): AgentTool {
  return defineTextTool({
    name: 'send',
    description: 'Sends',
    idempotent: false,
    requireApproval,
    execute(input) {
      sent.push(...(kept.at(-1)?.steps.map(({ kind }) => kind) ?? []), input)
      return 'sent'
    },
  })
}

const answer = ({ messages }: ModelRequest) =>
  messages.some(({ role }) => role === 'tool') ? 'done' : asks

const kindsOf = ({ steps }: KeptRun): readonly string[] => steps.map(({ kind }) => kind)

describe.each(['agent', 'handler'])(
  '[ENS-L23] of an %s, a call that must not be made twice',
  (who) => {
    const work = (tool: AgentTool): TaskDefinition =>
      who === 'agent'
        ? { description: 'x', tools: [tool], model: scriptedModel(answer) }
        : { description: 'x', handler: tool }
    const teamOf = (tool: AgentTool) => ensemble({ name: 'team', tasks: [task(work(tool))] })

    it('is kept as begun just before its body', async () => {
      const sent: string[] = []
      const kept: KeptRun[] = []
      const run = startKept(teamOf(send(sent, false, kept)))
      kept.push(run)
      await endOf(run)
      expect(sent.slice(-2)).toEqual(['tool_begun', 'x'])
      expect(kindsOf(run).filter((kind) => kind === 'tool_begun')).toHaveLength(1)
    })

    it('has not begun while its reviewer thinks: it is made after a restart', async () => {
      const sent: string[] = []
      const first = startKept(teamOf(send(sent, true)))
      await nextTurn()
      expect(first.handle.snapshot().reviews).toHaveLength(1)
      expect(kindsOf(first)).not.toContain('tool_begun')
      first.letGo()
      const clock = fakeClock(first.clock.now())
      const second = startKept(teamOf(send(sent, true)), { from: joined(first), clock })
      await nextTurn()
      const { reviewId = '' } = second.handle.snapshot().reviews[0] ?? {}
      await second.handle.decide(reviewId, { action: 'CONTINUE' })
      expect((await endOf(second)).status).toBe('COMPLETED')
      expect(sent).toEqual(['x'])
      expect(
        kindsOf(second).filter((kind) => kind.startsWith('gate') || kind.startsWith('tool')),
      ).toEqual(['gate_closed', 'tool_begun', 'tool_ended'])
    })

    it('never begins when its reviewer says no', async () => {
      const sent: string[] = []
      const run = startKept(teamOf(send(sent, true)))
      await nextTurn()
      const { reviewId = '' } = run.handle.snapshot().reviews[0] ?? {}
      await run.handle.decide(reviewId, { action: 'REJECT' })
      await endOf(run)
      expect(sent).toEqual([])
      expect(kindsOf(run)).not.toContain('tool_begun')
    })

    it('is the only kind of call whose begin is kept', async () => {
      const run = startKept(teamOf({ ...send([], false), idempotent: true }))
      await endOf(run)
      expect(kindsOf(run)).not.toContain('tool_begun')
      expect(kindsOf(run)).toContain('tool_ended')
    })

    it('does not run when its begin cannot be kept: the run may write nothing more', async () => {
      const sent: string[] = []
      const lost = new TuttiError('FENCED', 'Another process has the run')
      const { handle } = startKept(teamOf(send(sent, false)), {
        journal: {
          emit() {},
          commit: ({ kind }) => (kind === 'tool_begun' ? Promise.reject(lost) : Promise.resolve()),
        },
      })
      expect(await handle.result).toMatchObject({ status: 'FAILED', error: { code: 'FENCED' } })
      expect(sent).toEqual([])
    })
  },
)
