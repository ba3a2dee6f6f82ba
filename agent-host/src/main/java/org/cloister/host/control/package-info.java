/**
 * How this host is asked: by job steps that want their VM, and by operators. A Unix socket whose callers the kernel names,
 * lines of JSON, and a seam to whoever does the work.
 */
@NullMarked
package org.cloister.host.control;

import org.jspecify.annotations.NullMarked;
