@NullMarked
package org.cloister.vm.controller.receipts;

import org.jspecify.annotations.NullMarked;
