@NullMarked
package org.cloister.vm.boot;

import org.jspecify.annotations.NullMarked;
