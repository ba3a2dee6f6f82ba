/** Persons in their controlling VM: OpenSSH through circuits, and what of it takes data out. */
@NullMarked
package org.cloister.vm.access;

import org.jspecify.annotations.NullMarked;
