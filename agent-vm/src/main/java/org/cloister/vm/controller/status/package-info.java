/** What users are told of jobs that wait. */
@NullMarked
package org.cloister.vm.controller.status;

import org.jspecify.annotations.NullMarked;
