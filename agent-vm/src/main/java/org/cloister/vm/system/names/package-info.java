/** The VM's host name and its table of nodes' addresses. */
@NullMarked
package org.cloister.vm.system.names;

import org.jspecify.annotations.NullMarked;
