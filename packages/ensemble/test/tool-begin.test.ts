/** Tests of the begin of calls that must not be repeated. */
import { defineTextTool, TuttiError, type AgentTool } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { ensemble, task, type TaskDefinition } from '../src/index.ts'
import { runToEnd, joinRuns, startRecorded, type RecordedRun } from './recorded-run.ts'
import { fakeClock, scriptedModel } from './testing.ts'
import { nextTurn } from './watch-run.ts'

import type { ModelRequest } from '../src/adapter.ts'

const asks = { toolCalls: [{ name: 'send', arguments: { input: 'x' } }] }

function send(sent: string[], requireApproval: boolean, runs: RecordedRun[] = []): AgentTool {
  return defineTextTool({
    name: 'send',
    description: 'Sends',
    idempotent: false,
    requireApproval,
    execute(input) {
      sent.push(...(runs.at(-1)?.steps.map(({ kind }) => kind) ?? []), input)
      return 'sent'
    },
  })
}

const answer = ({ messages }: ModelRequest) =>
  messages.some(({ role }) => role === 'tool') ? 'done' : asks

const listKinds = ({ steps }: RecordedRun): readonly string[] => steps.map(({ kind }) => kind)

describe.each(['agent', 'handler'])(
  '[ENS-L23] a call of an %s that must not be repeated',
  (who) => {
    const work = (tool: AgentTool): TaskDefinition =>
      who === 'agent'
        ? { description: 'x', tools: [tool], model: scriptedModel(answer) }
        : { description: 'x', handler: tool }
    const createTeam = (tool: AgentTool) => ensemble({ name: 'team', tasks: [task(work(tool))] })

    it('A call that must not be repeated is recorded as begun just before its body', async () => {
      const sent: string[] = []
      const runs: RecordedRun[] = []
      const run = startRecorded(createTeam(send(sent, false, runs)))
      runs.push(run)
      await runToEnd(run)
      expect(sent.slice(-2)).toEqual(['tool_begun', 'x'])
      expect(listKinds(run).filter((kind) => kind === 'tool_begun')).toHaveLength(1)
    })

    it('A call that must not be repeated has not begun while its reviewer decides, and is made after a restart', async () => {
      const sent: string[] = []
      const first = startRecorded(createTeam(send(sent, true)))
      await nextTurn()
      expect(first.handle.snapshot().reviews).toHaveLength(1)
      expect(listKinds(first)).not.toContain('tool_begun')
      first.release()
      const clock = fakeClock(first.clock.now())
      const second = startRecorded(createTeam(send(sent, true)), { from: joinRuns(first), clock })
      await nextTurn()
      const { reviewId = '' } = second.handle.snapshot().reviews[0] ?? {}
      await second.handle.decide(reviewId, { action: 'CONTINUE' })
      expect((await runToEnd(second)).status).toBe('COMPLETED')
      expect(sent).toEqual(['x'])
      expect(
        listKinds(second).filter((kind) => kind.startsWith('gate') || kind.startsWith('tool')),
      ).toEqual(['gate_closed', 'tool_begun', 'tool_ended'])
    })

    it('A call that must not be repeated never begins if its reviewer rejects it', async () => {
      const sent: string[] = []
      const run = startRecorded(createTeam(send(sent, true)))
      await nextTurn()
      const { reviewId = '' } = run.handle.snapshot().reviews[0] ?? {}
      await run.handle.decide(reviewId, { action: 'REJECT' })
      await runToEnd(run)
      expect(sent).toEqual([])
      expect(listKinds(run)).not.toContain('tool_begun')
    })

    it('A call that must not be repeated is the only kind of call whose begin is recorded', async () => {
      const run = startRecorded(createTeam({ ...send([], false), idempotent: true }))
      await runToEnd(run)
      expect(listKinds(run)).not.toContain('tool_begun')
      expect(listKinds(run)).toContain('tool_ended')
    })

    it('A call that must not be repeated does not run if its begin cannot be recorded', async () => {
      const sent: string[] = []
      const lost = new TuttiError('FENCED', 'Another process has the run')
      const { handle } = startRecorded(createTeam(send(sent, false)), {
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
