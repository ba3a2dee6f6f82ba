/** Members' accounts, homes, UIDs and Slurm associations. */
@NullMarked
package org.cloister.vm.controller.members;

import org.jspecify.annotations.NullMarked;
