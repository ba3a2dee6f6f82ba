@NullMarked
package org.cloister.vm.plugin;

import org.jspecify.annotations.NullMarked;
