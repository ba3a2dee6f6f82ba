/** Mounts, as the kernel reports them. */
@NullMarked
package org.cloister.base.mount;

import org.jspecify.annotations.NullMarked;
