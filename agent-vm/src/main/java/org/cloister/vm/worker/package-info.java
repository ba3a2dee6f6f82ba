/** The seam to worker VMs: tickets go out, nodes come and go. */
@NullMarked
package org.cloister.vm.worker;

import org.jspecify.annotations.NullMarked;
