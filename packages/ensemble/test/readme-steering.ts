import { ensemble, task } from '../src/index.ts'
import { scriptedModel } from '../../testing/src/index.ts'

const draft = task({
  name: 'draft',
  description: 'Draft a line to {name}',
  review: { prompt: 'Is it polite?', timeoutMs: 60_000, onTimeout: 'FAIL' },
})
const model = scriptedModel(['Hey Ada', 'Dear Ada'])
const team = ensemble({ name: 'letters', model, tasks: [draft], budget: { maxTokens: 10_000 } })

const run = team.start(
  { name: 'Ada' },
  {
    onEvent(event) {
      if (event.type === 'directive_delivered') console.log('directive to', event.taskName)
      if (event.type !== 'review_requested') return
      const { reviewId, taskOutput } = event
      console.log('review of', taskOutput)
      void run.decide(
        reviewId,
        taskOutput.startsWith('Dear')
          ? { action: 'CONTINUE', decidedBy: 'Grace' }
          : { action: 'REJECT', feedback: 'Begin with Dear', decidedBy: 'Grace' },
      )
    },
  },
)
run.inject({ content: 'One line only', priority: 'HIGH' })
const { status, output } = await run.result
console.log(status, output)
// directive to draft
// review of Hey Ada
// directive to draft
// review of Dear Ada
// COMPLETED Dear Ada
