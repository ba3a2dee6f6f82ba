/** A project's members, as the VM's system, its Slurm and its storage know them. */
@NullMarked
package org.cloister.vm.system.users;

import org.jspecify.annotations.NullMarked;
