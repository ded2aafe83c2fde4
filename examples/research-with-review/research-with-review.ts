/** Three parallel researchers, a writer who summarizes, and a person who reviews the summary. */
import { Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'

import { createReviewer } from './reviewers.ts'

/** Creates a task that researches one aspect of the subject. The models of this example are scripted. */
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
  description: 'Summarize what is known about {subject}',
  context: [past, present, future],
  review: {
    prompt: 'Accept this summary?',
    timeoutMs: 600_000,
    onTimeout: 'FAIL',
    maxRevisions: 3,
  },
  // To use a real model: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain
  model: scriptedModel(({ messages }) => {
    const text = messages.map(({ content }) => content).join('\n')
    if (text.includes('A reviewer sent your last answer back')) {
      return 'Wind: a thousand years old, a tenth of all power, a third by 2050 (perhaps).'
    }
    const findings = [...text.matchAll(/"finding":"(.+?)"/g)].map(([, finding]) => finding)
    return `There is a lot to say. ${findings.join('. ')}. And so on.`
  }),
})

const newsroom = ensemble({ name: 'newsroom', tasks: [past, present, future, sumUp] })
let running = 0
const result = await newsroom.run(
  { subject: 'wind power' },
  {
    reviewer: createReviewer([
      { action: 'REJECT', feedback: 'Make it short, with the numbers', decidedBy: 'Ada' },
      { action: 'CONTINUE', decidedBy: 'Ada' },
    ]),
    onEvent(event) {
      if (event.type === 'task_completed') running -= 1
      if (event.type !== 'task_started') return
      running += event.attempt === 1 ? 1 : 0
      console.log(`${event.taskName} started, attempt ${event.attempt}; running: ${running}`)
    },
  },
)

console.log(`\n${result.status}: ${result.output}`)
const unsure = [past, present, future].filter((task) => result.outputOf(task)?.sure === false)
console.log('Not certain:', unsure.map(({ name }) => name).join(', '))
