/** Persons in their controlling VM: OpenSSH through circuits, and what of it takes data out. */
@NullMarked
package org.cloister.vm.controller.ssh;

import org.jspecify.annotations.NullMarked;
