/** Text of a model drawn as Markdown: no HTML of its own, no pictures of elsewhere. */
import Library from 'react-markdown'

import { cx } from '../../lib/cx.ts'
import styles from './text.module.css'

/** Elements that a text may have; a picture would be a request to an address that a model chose. */
const NOT_ALLOWED = ['img']

function Markdown({
  children,
  className,
}: {
  readonly children: string
  readonly className?: string | undefined
}) {
  return (
    <div className={cx(styles['markdown'], className)}>
      <Library
        disallowedElements={NOT_ALLOWED}
        unwrapDisallowed
        components={{
          a: ({ href, children: words }) => (
            <a href={href} target="_blank" rel="noreferrer noopener">
              {words}
            </a>
          ),
        }}
      >
        {children}
      </Library>
    </div>
  )
}

// oxlint-disable-next-line import/no-default-export -- what React loads late is a default export
export default Markdown
