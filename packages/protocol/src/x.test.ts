import { it } from 'vitest'
import { SubmitRunBody } from './schemas/rest/submit-run.ts'
import { ListRunsQuery } from './schemas/rest/runs.ts'
import { InvokeToolBody } from './schemas/rest/tools.ts'
import { ReviewDecisionBody } from './schemas/rest/reviews.ts'
import { decode, decodeClientMessage, decodeLoggedRunEvent, decodeServerMessage } from './decode.ts'
import { TaskTrace } from './schemas/trace/task-trace.ts'
it('x', () => {
  const show = (x: unknown) => console.log(JSON.stringify(x, null, 1))
  show(decode(SubmitRunBody, { input: {}, inputs: { a: 1, 'x\ny': 2, ['__proto__']: 3 }, tasks: [], taskOverrides: { w: { max_iterations: 3, model: '' } } , options: {workflow: 'SEQENTIAL', maxToolOutputLength: 1.5}, runId: '-x'}))
  show(decode(SubmitRunBody, JSON.parse('{"inputs":{"__proto__":3, "constructor": "a"}, "__proto__": 4, "tasks":[{"name":"x"}, {"description": "", "context":["a"]}, 5]}')))
  show(decode(SubmitRunBody, 'x'))
  show(decode(ListRunsQuery, {limit: 0, status: 'running'}))
  show(decode(InvokeToolBody, {input: 3}))
  show(decode(ReviewDecisionBody, {decision: 'EDIT'}))
  show(decode(ReviewDecisionBody, {decision: 'edit', revised_output: 'x'}))
  show(decodeClientMessage({type: 'run_requst'}))
  show(decodeClientMessage({}))
  show(decodeClientMessage([]))
  show(decodeClientMessage({type: 'state_query', query: 'run_detail', requestId: 'q'}))
  show(decodeClientMessage({type: 'subscribe', events: ['task_startd']}))
  show(decodeLoggedRunEvent({type: 'run_cancelling', requestedAt: 'yesterday', mode: 'now'}))
  show(decodeServerMessage({type: 'run_cancelling', requestedAt: 'yesterday', mode: 'now', seq: -1, runId: 'r'}))
  show(decode(TaskTrace, {delegations: [{workerTrace: {duration: 'x'}}]}))
})
