@NullMarked
package org.cloister.vm.rpcfilter;

import org.jspecify.annotations.NullMarked;
