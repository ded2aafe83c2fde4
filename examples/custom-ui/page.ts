/** The page: submits a run, shows the output of its tasks while it streams, cancels the run, and decides its review. */
import { createClient, type LoggedRunEventOf } from '@tutti/client'

import { find } from './find.ts'

/** Address of the server, which the build inserts. */
declare const SERVER_URL: string

/** Events that this page shows; the server sends only these. */
const SHOWN = [
  'task_started',
  'token',
  'tool_called',
  'review_requested',
  'review_decided',
  'review_timed_out',
  'review_withdrawn',
  'run_result',
] as const

const client = createClient({ baseUrl: SERVER_URL })

const status = find('#status', HTMLOutputElement)
const cancel = find('#cancel', HTMLButtonElement)
const tasks = find('#tasks', HTMLElement)
const review = find('#review', HTMLFormElement)
const question = find('#question', HTMLElement)

let runId = ''
let reviewId = ''

find('#submit', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault()
  showErrors(startRun(find('[name=name]', HTMLInputElement).value))
})

cancel.addEventListener('click', () => showErrors(client.runs.cancel(runId)))

review.addEventListener('submit', (event) => {
  event.preventDefault()
  const feedback = find('[name=feedback]', HTMLInputElement).value
  const accepted = event.submitter?.getAttribute('value') === 'CONTINUE'
  const decision = accepted
    ? ({ decision: 'CONTINUE' } as const)
    : ({ decision: 'REJECT', feedback } as const)
  showErrors(client.reviews.decide(reviewId, decision))
})

async function startRun(name: string): Promise<void> {
  const run = await client.runs.submit({ inputs: { name } })
  runId = run.runId
  tasks.replaceChildren()
  cancel.hidden = false
  // Reconnects automatically, resumes without gaps, and ends when the run has ended.
  const events = client.runs.events(runId, {
    events: SHOWN,
    onConnection: (connection) => (document.title = `Letters (${connection.status})`),
  })
  for await (const event of events) show(event)
}

function show(event: LoggedRunEventOf<(typeof SHOWN)[number]>): void {
  switch (event.type) {
    case 'task_started':
      status.value = 'RUNNING'
      tasks.append(`${event.taskName} (${event.attempt})`, document.createElement('pre'))
      break
    case 'token':
      tasks.lastElementChild?.append(event.token)
      break
    case 'tool_called':
      tasks.lastElementChild?.append(`[${event.toolName}: ${event.toolResult}]\n`)
      break
    case 'review_requested':
      status.value = 'WAITING'
      reviewId = event.reviewId
      question.textContent = event.prompt ?? 'Continue?'
      review.hidden = false
      break
    case 'review_decided':
    case 'review_timed_out':
    case 'review_withdrawn':
      review.hidden = true
      break
    case 'run_result':
      status.value = event.status
      cancel.hidden = true
      break
  }
}

/** Shows the error if the work fails. */
function showErrors(work: Promise<unknown>): void {
  work.catch((error: unknown) => {
    status.value = error instanceof Error ? error.message : String(error)
  })
}
