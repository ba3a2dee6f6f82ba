/** A VM's tunnels to the machines of its project, and the charon that makes them. */
@NullMarked
package org.cloister.vm.system.tunnel;

import org.jspecify.annotations.NullMarked;
