/** Example values of schemas. */
import type { Example } from './open-api-types.ts'

const START = '2025-03-15T10:30:00Z'
const RUN_ID = 'run-7f3a2b'

/** Examples by schema name and example name. */
export const EXAMPLES: Readonly<Record<string, Readonly<Record<string, Example>>>> = {
  SubmitRunBody: {
    inputs: {
      summary: 'Run the default ensemble',
      value: { inputs: { topic: 'AI safety' }, tags: { environment: 'staging' } },
    },
    overrides: {
      summary: 'Change tasks of the ensemble for this run',
      value: {
        inputs: { topic: 'AI safety' },
        taskOverrides: { researcher: { maxIterations: 5, tools: { add: ['calculator'] } } },
        options: { captureMode: 'FULL' },
      },
    },
    tasks: {
      summary: 'Run tasks of your own',
      value: {
        tasks: [
          { name: 'research', description: 'Research {topic}', tools: ['web_search'] },
          {
            name: 'brief',
            description: 'Write a brief',
            context: ['$research'],
            outputSchema: { type: 'object', properties: { title: { type: 'string' } } },
          },
        ],
        inputs: { topic: 'AI safety' },
      },
    },
  },
  RunAccepted: {
    accepted: {
      summary: 'The run is queued',
      value: { runId: RUN_ID, status: 'ACCEPTED', tasks: 2, workflow: 'SEQUENTIAL' },
    },
  },
  CreateThreadBody: {
    titled: {
      summary: 'A conversation with a title',
      value: { title: 'Refund of order 4711', tags: { customer: 'ann' } },
    },
  },
  CreateScheduleBody: {
    morning: {
      summary: 'A run at nine on working days',
      value: {
        name: 'morning-brief',
        cron: '0 9 * * MON-FRI',
        timeZone: 'Europe/Berlin',
        run: { ensemble: 'research-brief', inputs: { topic: 'AI safety' } },
      },
    },
  },
  ReplaceScheduleBody: {
    hourly: {
      summary: 'A run every hour, unless the last one has not ended',
      value: {
        cron: '@hourly',
        overlap: 'skip',
        run: { ensemble: 'research-brief', inputs: { topic: 'AI safety' } },
      },
    },
  },
  CancelBody: {
    boundary: { summary: 'Let running tasks finish', value: { mode: 'boundary' } },
  },
  CancelRunsBody: {
    tag: { summary: 'All runs with this tag', value: { tag: 'environment:staging' } },
  },
  ForkRunBody: {
    task: {
      summary: 'Repeat one task with another description',
      value: {
        at: { task: 'writer' },
        taskOverrides: { writer: { description: 'Write a poem about {topic}' } },
      },
    },
    event: {
      summary: 'Continue after an event, with another input',
      value: { at: 12, inputs: { topic: 'AI' } },
    },
    given: {
      summary: 'Give the output of a task, and guide another one',
      value: {
        at: { task: 'researcher' },
        results: { researcher: 'The sea rises by 4 mm a year.' },
        directives: [{ content: 'Be brief', target: 'writer' }],
      },
    },
    preview: {
      summary: 'Show what a fork would reuse, call and cost',
      value: { at: { task: 'writer' }, preview: true },
    },
  },
  ReplayRunBody: {
    frozen: {
      summary: 'Check the code against a recorded run',
      value: { mode: 'frozen' },
    },
  },
  SetBuildShareBody: {
    canary: { summary: 'Send a quarter of the new runs to the build', value: { share: 25 } },
    all: { summary: 'Send all new runs to the build', value: { share: 100 } },
  },
  MigrateRunBody: {
    preview: { summary: 'Show the differences', value: { to: '2026-11-23', preview: true } },
    move: { summary: 'Move the run', value: { to: '2026-11-23' } },
  },
  EventLinkBody: {
    payment: { summary: 'A link for the payment of this order', value: { key: 'order-17' } },
  },
  LinkedEventData: {
    payment: { summary: 'A payment', value: { amount: 250 } },
  },
  SendEventBody: {
    payment: {
      summary: 'Deliver a payment to the run that waits for this order',
      value: { key: 'order-17', data: { amount: 250 }, id: 'payment-4711' },
    },
  },
  SwitchModelBody: {
    run: { summary: 'The whole run', value: { model: 'haiku' } },
    task: { summary: 'One task', value: { model: 'haiku', taskName: 'writer' } },
  },
  InjectBody: {
    all: { summary: 'Guide all agents', value: { content: 'Focus on European regulations' } },
    one: {
      summary: 'Guide one agent for ten minutes',
      value: { content: 'Be brief', target: 'writer', priority: 'HIGH', ttl: 'PT10M' },
    },
  },
  ReviewDecisionBody: {
    continue: { summary: 'Continue', value: { decision: 'CONTINUE' } },
    edit: {
      summary: 'Replace the output',
      value: { decision: 'EDIT', revisedOutput: 'A better text' },
    },
    reject: {
      summary: 'Have the task repeated',
      value: { decision: 'REJECT', feedback: 'Name your sources' },
    },
  },
  InvokeToolBody: {
    typed: { summary: 'A tool with named fields', value: { input: { expression: '6 * 7' } } },
    text: { summary: 'A tool that takes text', value: { input: '6 * 7' } },
  },
  ToolInvocation: {
    success: {
      summary: 'The tool returned a result',
      value: { tool: 'calculator', status: 'SUCCESS', output: '42', durationMs: 3 },
    },
    failed: {
      summary: 'The tool itself failed',
      value: { tool: 'calculator', status: 'FAILED', errorMessage: 'Divides by 0', durationMs: 3 },
    },
  },
  StreamedRunEvent: {
    first: {
      summary: 'The first event of every run',
      value: {
        type: 'run_queued',
        queuedAt: START,
        ensemble: 'research-brief',
        workflow: 'SEQUENTIAL',
        totalTasks: 2,
        inputs: { topic: 'AI safety' },
        tags: {},
        runId: RUN_ID,
        seq: 0,
        id: `${RUN_ID}:0`,
      },
    },
  },
  Readiness: {
    ready: { summary: 'Accepts runs', value: { status: 'READY', lifecycleState: 'READY' } },
    draining: {
      summary: 'Shutting down',
      value: { status: 'NOT_READY', lifecycleState: 'DRAINING' },
    },
  },
  Ticket: {
    ticket: {
      summary: 'A ticket for one minute',
      value: { ticket: 'tkt-9c2f6b1d', expiresAt: START },
    },
  },
}
