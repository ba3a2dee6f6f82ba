/** The guard, and behind it the VM's one address in the project's network. */
@NullMarked
package org.cloister.vm.network;

import org.jspecify.annotations.NullMarked;
