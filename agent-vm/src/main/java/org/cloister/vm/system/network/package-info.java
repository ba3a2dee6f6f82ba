/** The guard, and behind it the VM's one address in the project's network. */
@NullMarked
package org.cloister.vm.system.network;

import org.jspecify.annotations.NullMarked;
