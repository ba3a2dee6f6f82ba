/** Turns pending jobs into tickets and starts them on their nodes. */
@NullMarked
package org.cloister.vm.controller.queue;

import org.jspecify.annotations.NullMarked;
