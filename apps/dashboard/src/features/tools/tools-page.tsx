/** The page that calls tools manually. */
import { useDeferredValue, useState } from 'react'

import { readFailureText } from '../../api/failure.ts'
import { linkToTools } from '../../api/links.ts'
import { useCapabilities } from '../../api/use-capabilities.ts'
import { cx } from '../../lib/cx.ts'
import { Button, LinkButton } from '../../ui/controls/button.tsx'
import { Empty, Loading, Notice } from '../../ui/feedback/notice.tsx'
import { formatPlural } from '../../lib/format.ts'
import { TextInput } from '../../ui/controls/inputs.tsx'
import { ToolBench } from './tool-bench.tsx'
import styles from './tools.module.css'

import type { ToolInfo } from '@tutti/protocol'

/** The page; `name` is the selected tool. */
export function ToolsPage({ name }: { readonly name: string | undefined }) {
  const { data, error, refetch } = useCapabilities()
  if (error !== null) {
    return (
      <Notice
        tone="failed"
        title="Failed to load the tools"
        actions={<Button onClick={() => void refetch()}>Try again</Button>}
      >
        <p>{readFailureText(error)}</p>
      </Notice>
    )
  }
  if (data === undefined) return <Loading label="Loading tools" />
  const { tools } = data
  if (tools.length === 0) {
    return (
      <Empty title="No tools">
        Register tools in the configuration of the server to try them here.
      </Empty>
    )
  }
  const tool = tools.find((one) => one.name === name)
  return (
    <div className={cx(styles['page'], name !== undefined && styles['chosen'])}>
      <nav className={styles['side']} aria-label="Choose a tool">
        {/* The selected tool provides the heading of the page. */}
        {name === undefined ? (
          <h1 className={styles['heading']}>Tools</h1>
        ) : (
          <p className={styles['heading']}>Tools</p>
        )}
        <ToolList tools={tools} chosen={name} />
      </nav>
      {tool !== undefined && <ToolBench key={tool.name} tool={tool} />}
      {name === undefined && (
        <div className={styles['unchosen']}>
          <Empty title="Choose a tool">Its input form is generated from its schema.</Empty>
        </div>
      )}
      {name !== undefined && tool === undefined && (
        <Empty
          title={`Tool "${name}" not found`}
          actions={<LinkButton href={linkToTools()}>Go to tools</LinkButton>}
        />
      )}
    </div>
  )
}

/** The list; `chosen` is the selected tool. */
function ToolList({
  tools,
  chosen,
}: {
  readonly tools: readonly ToolInfo[]
  readonly chosen: string | undefined
}) {
  const [search, setSearch] = useState('')
  const wanted = useDeferredValue(search).trim().toLowerCase()
  const found = tools.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(wanted),
  )
  return (
    <>
      <div className={styles['search']}>
        <TextInput
          type="search"
          aria-label="Search tools"
          placeholder={`Search ${formatPlural(tools.length, 'tool')}`}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      </div>
      <p role="status" className={styles['none']}>
        {found.length === 0 && `No tools match "${search}"`}
      </p>
      <ul className={styles['list']} aria-label="Tools">
        {found.map(({ name, description }) => (
          <li key={name}>
            <a href={linkToTools(name)} aria-current={name === chosen ? 'page' : undefined}>
              <span>{name}</span>
              <span className={styles['soft']}>{description}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}
