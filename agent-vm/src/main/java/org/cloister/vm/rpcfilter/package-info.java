/** The RPC filter, a process of its own. */
@NullMarked
package org.cloister.vm.rpcfilter;

import org.jspecify.annotations.NullMarked;
