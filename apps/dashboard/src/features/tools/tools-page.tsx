/** The tools of the server, to be tried by hand. */
import { useDeferredValue, useState } from 'react'

import { failureText } from '../../api/failure.ts'
import { toolsHref } from '../../api/links.ts'
import { useCapabilities } from '../../api/use-capabilities.ts'
import { cx } from '../../lib/cx.ts'
import { Button, LinkButton } from '../../ui/controls/button.tsx'
import { Empty, Loading, Notice } from '../../ui/feedback/notice.tsx'
import { plural } from '../../lib/format.ts'
import { TextInput } from '../../ui/controls/inputs.tsx'
import { ToolBench } from './tool-bench.tsx'
import styles from './tools.module.css'

import type { ToolInfo } from '@tutti/protocol'

/** The page; `name` is the tool that is chosen. */
export function ToolsPage({ name }: { readonly name: string | undefined }) {
  const { data, error, refetch } = useCapabilities()
  if (error !== null) {
    return (
      <Notice
        tone="failed"
        title="The tools could not be read"
        actions={<Button onClick={() => void refetch()}>Try again</Button>}
      >
        <p>{failureText(error)}</p>
      </Notice>
    )
  }
  if (data === undefined) return <Loading label="Reading the tools" />
  const { tools } = data
  if (tools.length === 0) {
    return (
      <Empty title="This server offers no tools">
        Tools that its configuration registers can be tried here.
      </Empty>
    )
  }
  const tool = tools.find((one) => one.name === name)
  return (
    <div className={cx(styles['page'], name !== undefined && styles['chosen'])}>
      <nav className={styles['side']} aria-label="Choose a tool">
        {/* The tool that is chosen has the heading of the page. */}
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
          <Empty title="Choose a tool">Its input is a form that follows from its schema.</Empty>
        </div>
      )}
      {name !== undefined && tool === undefined && (
        <Empty
          title={`There is no tool "${name}"`}
          actions={<LinkButton href={toolsHref()}>To the tools</LinkButton>}
        />
      )}
    </div>
  )
}

/** The list; `chosen` is the name of one of them. */
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
          aria-label="Search the tools"
          placeholder={`Search ${plural(tools.length, 'tool')}`}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      </div>
      <p role="status" className={styles['none']}>
        {found.length === 0 && `No tool has "${search}" in its name or description`}
      </p>
      <ul className={styles['list']} aria-label="Tools">
        {found.map(({ name, description }) => (
          <li key={name}>
            <a href={toolsHref(name)} aria-current={name === chosen ? 'page' : undefined}>
              <span>{name}</span>
              <span className={styles['soft']}>{description}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}
