/** Accounts of a project's members in a VM. */
@NullMarked
package org.cloister.vm.system.users;

import org.jspecify.annotations.NullMarked;
