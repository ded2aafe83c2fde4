/** Three researchers at the same time, one who sums up, and a person who decides whether that will do. */
import { Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'

import { reviewer } from './reviewers.ts'

/** Looks at one side of the subject. The models of this example are scripted: a real one needs no script. */
function research(name: string, finding: string) {
  return task({
    name,
    description: `Find out about {subject}: ${name}`,
    output: Type.Object({ finding: Type.String(), sure: Type.Boolean() }),
    model: scriptedModel([JSON.stringify({ finding, sure: name !== 'future' })]),
  })
}

const past = research('past', 'Mills turned in the wind a thousand years ago')
const present = research('present', 'Wind makes a tenth of all power')
const future = research('future', 'It may be a third by 2050')

const sumUp = task({
  name: 'sum-up',
  description: 'Sum up what is known of {subject}',
  context: [past, present, future],
  review: { prompt: 'Will that do?', timeoutMs: 600_000, onTimeout: 'FAIL', maxRevisions: 3 },
  // A real model instead: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain
  model: scriptedModel(({ messages }) => {
    const asked = messages.map(({ content }) => content).join('\n')
    if (asked.includes('A reviewer sent your last answer back')) {
      return 'Wind: a thousand years old, a tenth of all power, a third by 2050 (perhaps).'
    }
    const findings = [...asked.matchAll(/"finding":"(.+?)"/g)].map(([, finding]) => finding)
    return `There is much to say. ${findings.join('. ')}. And so on.`
  }),
})

const desk = ensemble({ name: 'desk', tasks: [past, present, future, sumUp] })
let atWork = 0
const result = await desk.run(
  { subject: 'wind power' },
  {
    reviewer: reviewer([
      { action: 'REJECT', feedback: 'Make it short, with the figures', decidedBy: 'Ada' },
      { action: 'CONTINUE', decidedBy: 'Ada' },
    ]),
    onEvent(event) {
      if (event.type === 'task_completed') atWork -= 1
      if (event.type !== 'task_started') return
      atWork += event.attempt === 1 ? 1 : 0
      console.log(`${event.taskName} begins, attempt ${event.attempt}; at work: ${atWork}`)
    },
  },
)

console.log(`\n${result.status}: ${result.output}`)
const unsure = [past, present, future].filter((side) => result.outputOf(side)?.sure === false)
console.log('To be checked:', unsure.map(({ name }) => name).join(', '))
