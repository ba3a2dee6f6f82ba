/**
 * What agent-vm does before it knows what its VM is for: keys of the boot, the channel to the host, and saying how far it is; and
 * what conversations in circuits have in common, whatever it then is for.
 */
@NullMarked
package org.cloister.vm.boot;

import org.jspecify.annotations.NullMarked;
