/** Statuses of pending jobs for their owners. */
@NullMarked
package org.cloister.vm.controller.status;

import org.jspecify.annotations.NullMarked;
