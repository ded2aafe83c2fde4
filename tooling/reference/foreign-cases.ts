/** Views that clients of other protocols have of each kind of run: tested by the server, and shown in the documentation. */
import { code, replaceSection, table } from './markdown.ts'

/** Protocol, and the client that the tests use for it → the head of its column. */
export const FOREIGN_PROTOCOLS = {
  responses: 'OpenAI Responses (`openai`)',
  chat: 'chat completions (`openai`)',
  aiSdk: 'AI SDK (`ai`)',
  agUi: 'AG-UI (`@ag-ui/client`)',
} as const

/** A protocol of other clients. */
export type ForeignProtocol = keyof typeof FOREIGN_PROTOCOLS

/** Text of what each client shows, by its protocol. */
export type ForeignViews = Readonly<Record<ForeignProtocol, string>>

/** Views of each kind of run, in the terms of the library of each client. */
export const FOREIGN_CASES = {
  answered: {
    run: 'completes',
    seen: {
      responses: 'completed, output_text',
      chat: 'stop',
      aiSdk: 'ready, stop',
      agUi: 'RUN_FINISHED, success, stop',
    },
  },
  reasoned: {
    run: 'shows the reasoning of its model',
    seen: {
      responses: 'completed, reasoning, output_text',
      chat: 'stop, reasoning_content',
      aiSdk: 'ready, stop, reasoning',
      agUi: 'RUN_FINISHED, success, stop, reasoning',
    },
  },
  clientTool: {
    run: 'waits for a tool of the client',
    seen: {
      responses: 'completed, function_call',
      chat: 'tool_calls',
      aiSdk: 'ready, tool-calls, input-available',
      agUi: 'RUN_FINISHED, success',
    },
  },
  clientToolAfterKill: {
    run: 'gets the result of that tool after the server was killed and restarted',
    seen: {
      responses: 'completed, output_text',
      chat: 'stop',
      aiSdk: 'ready, stop',
      agUi: 'RUN_FINISHED, success, stop',
    },
  },
  reviewed: {
    run: 'waits for a review',
    seen: {
      responses: 'completed, mcp_approval_request',
      chat: 'waits',
      aiSdk: 'ready, tool-calls, approval-requested',
      agUi: 'RUN_FINISHED, interrupt',
    },
  },
  approved: {
    run: 'is approved; in chat completions by a reviewer elsewhere',
    seen: {
      responses: 'completed, output_text',
      chat: 'stop',
      aiSdk: 'ready, stop',
      agUi: 'RUN_FINISHED, success, stop',
    },
  },
  refused: {
    run: 'is refused by its model',
    seen: {
      responses: 'completed, refusal',
      chat: 'stop, refusal',
      aiSdk: 'ready, content-filter',
      agUi: 'RUN_ERROR, MODEL_REFUSED',
    },
  },
  filtered: {
    run: 'is stopped by the content filter of its model',
    seen: {
      responses: 'incomplete, content_filter',
      chat: 'content_filter',
      aiSdk: 'ready, content-filter',
      agUi: 'RUN_ERROR, CONTENT_FILTERED',
    },
  },
  cut: {
    run: 'fails at the output limit of its model',
    seen: {
      responses: 'incomplete, max_output_tokens',
      chat: 'length',
      aiSdk: 'ready, length',
      agUi: 'RUN_ERROR, OUTPUT_TRUNCATED',
    },
  },
  cutAccepted: {
    run: 'accepts an answer that was cut at that limit (`onUnfinished`)',
    seen: {
      responses: 'incomplete, max_output_tokens',
      chat: 'length',
      aiSdk: 'ready, length',
      agUi: 'RUN_FINISHED, success, length',
    },
  },
  spent: {
    run: 'exceeds its budget',
    seen: {
      responses: 'failed, rate_limit_exceeded',
      chat: 'APIError, 402, budget_exceeded',
      aiSdk: 'error, isError',
      agUi: 'RUN_ERROR, BUDGET_EXCEEDED',
    },
  },
  failed: {
    run: 'fails otherwise',
    seen: {
      responses: 'failed, server_error',
      chat: 'BadRequestError, 400, model_failed',
      aiSdk: 'error, isError',
      agUi: 'RUN_ERROR, MODEL_FAILED',
    },
  },
  cancelled: {
    run: 'is cancelled',
    seen: {
      responses: 'cancelled',
      chat: 'BadRequestError, 400, cancelled',
      aiSdk: 'ready, interrupted',
      agUi: 'RUN_FINISHED, cancelled',
    },
  },
  killed: {
    run: 'is read while the server is killed',
    seen: {
      responses: 'TypeError',
      chat: 'APIConnectionError',
      aiSdk: 'error, isError',
      agUi: 'RUN_ERROR, abort',
    },
  },
  resumed: {
    run: 'is joined again after the restart',
    seen: {
      responses: 'completed, output_text',
      chat: 'stop',
      aiSdk: 'ready, stop',
      agUi: 'RUN_FINISHED, success, stop',
    },
  },
} satisfies Readonly<Record<string, { readonly run: string; readonly seen: ForeignViews }>>

/** Returns the page with the table of cases. @throws {Error} when the page has no section for it. */
export function replaceForeignCases(page: string): string {
  const rows = Object.values(FOREIGN_CASES).map(({ run, seen }) => [
    run,
    code(seen.responses),
    code(seen.chat),
    code(seen.aiSdk),
    code(seen.agUi),
  ])
  const heads = ['a run that', ...Object.values(FOREIGN_PROTOCOLS)]
  return replaceSection(page, 'tooling/reference/foreign-cases.ts', table(heads, rows))
}
