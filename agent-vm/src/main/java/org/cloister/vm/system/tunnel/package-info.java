/** The charon daemon, the VM's tunnels and its locked private key. */
@NullMarked
package org.cloister.vm.system.tunnel;

import org.jspecify.annotations.NullMarked;
