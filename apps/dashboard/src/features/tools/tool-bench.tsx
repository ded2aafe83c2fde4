/** Shows one tool, with its input form and its calls. */
import { ArrowLeft, Play, RotateCcw } from 'lucide-react'
import { useRef, type FormEvent } from 'react'
import { ROUTES, routePath, type ToolInfo } from '@tutti/protocol'

import { access } from '../../api/access.ts'
import { formatCurl } from '../../api/curl-line.ts'
import { linkToTools } from '../../api/links.ts'
import { useMissingScope } from '../../api/use-identity.ts'
import { useStore } from '../../lib/store.ts'
import { Button, LinkButton, IconButton } from '../../ui/controls/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { focusFirst } from '../../ui/schema-form/focus-field.ts'
import { SchemaForm } from '../../ui/schema-form/schema-form.tsx'
import { CodeBlock } from '../../ui/show/text.tsx'
import { formatDuration } from '../../lib/format.ts'
import { Mark } from '../../ui/show/mark.tsx'
import { Ago } from '../../ui/show/time.tsx'
import { CallResult } from './call-result.tsx'
import { useToolBench } from './use-tool-bench.ts'
import { labelCall, formatInputLine } from './call-labels.ts'
import styles from './tools.module.css'

import type { BenchCall } from './tool-memory.ts'

export function ToolBench({ tool }: { readonly tool: ToolInfo }) {
  const bench = useToolBench(tool)
  return (
    <div className={styles['bench']}>
      <header className={styles['tool']}>
        <LinkButton
          href={linkToTools()}
          kind="quiet"
          icon={<ArrowLeft />}
          className={styles['back']}
        >
          Tools
        </LinkButton>
        <h1>{tool.name}</h1>
        <p>{tool.description}</p>
      </header>
      <Panel title="Input" className={styles['input']}>
        <InputForm bench={bench} />
        <CurlFold name={tool.name} input={bench.input} />
      </Panel>
      <Panel title="Result" className={styles['output']}>
        <Results bench={bench} />
      </Panel>
    </div>
  )
}

interface BenchProps {
  readonly bench: ReturnType<typeof useToolBench>
}

function InputForm({ bench }: BenchProps) {
  const form = useRef<HTMLFormElement>(null)
  const missing = useMissingScope('tools:invoke')
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const wrong = bench.tryCall()
    if (form.current !== null) focusFirst(form.current, wrong)
  }
  return (
    <form ref={form} noValidate onSubmit={submit} className={styles['form']}>
      <SchemaForm
        schema={bench.schema}
        label="Input"
        draft={bench.draft}
        problems={bench.problems}
        showAll={bench.wasTried}
        onChange={bench.change}
      />
      {bench.unchecked !== undefined && (
        <Notice title="The input is validated only by the server">
          <p>{`The browser cannot compile its schema: ${bench.unchecked}`}</p>
        </Notice>
      )}
      <div className={styles['actions']}>
        <Button
          type="submit"
          kind="primary"
          icon={<Play />}
          busy={bench.isBusy}
          disabled={missing !== undefined}
          title={missing}
        >
          Call tool
        </Button>
        <Button kind="quiet" onClick={bench.clear}>
          Clear
        </Button>
      </div>
    </form>
  )
}

function Results({ bench: { calls, shown, isBusy, stop, call, take } }: BenchProps) {
  if (shown === undefined) return <p className={styles['soft']}>Not called yet.</p>
  return (
    <>
      <CallResult key={shown.id} call={shown} onStop={stop} />
      <h3 className={styles['subhead']}>Calls in this session</h3>
      <CallList
        calls={calls}
        chosen={shown.id}
        isBusy={isBusy}
        onChoose={take}
        onAgain={(again) => call(again.input)}
      />
    </>
  )
}

function CurlFold({ name, input }: { readonly name: string; readonly input: unknown }) {
  const { key } = useStore(access)
  const { method } = ROUTES.invokeTool
  const path = routePath('invokeTool', { name })
  return (
    <details className={styles['fold']}>
      <summary>Command</summary>
      <CodeBlock label="command">
        {formatCurl({ method, path, body: { input }, hasKey: key !== undefined })}
      </CodeBlock>
    </details>
  )
}

function CallList({
  calls,
  chosen,
  isBusy,
  onChoose,
  onAgain,
}: {
  readonly calls: readonly BenchCall[]
  readonly chosen: number | undefined
  readonly isBusy: boolean
  /** Called to show an earlier call, with its input in the form. */
  readonly onChoose: (call: BenchCall) => void
  readonly onAgain: (call: BenchCall) => void
}) {
  return (
    <ol className={styles['calls']} aria-label="Calls in this session">
      {calls.map((call) => (
        <li key={call.id} className={styles['call']}>
          <button
            type="button"
            aria-current={call.id === chosen ? 'true' : undefined}
            onClick={() => onChoose(call)}
          >
            <Mark kind={labelCall(call).mark} label={labelCall(call).word} />
            <code>{formatInputLine(call)}</code>
            <span className={styles['figure']}>
              {call.outcome.kind === 'answered' && formatDuration(call.outcome.answer.durationMs)}
            </span>
            <span className={styles['soft']}>
              <Ago at={new Date(call.startedAt).toISOString()} />
            </span>
          </button>
          <IconButton
            label={`Call again with ${formatInputLine(call)}`}
            icon={<RotateCcw />}
            disabled={isBusy}
            onClick={() => onAgain(call)}
          />
        </li>
      ))}
    </ol>
  )
}
