package org.cloister.vm.controller.ssh;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RsyncCommandTest {
    @Test
    void what_rsync_sends_is_read_without_a_shell() {
        assertThat(RsyncCommand.parse("rsync --server --sender -logDtpre.iLsfxCIvu --numeric-ids . a\\ b /c\\$d"))
                .contains(new RsyncCommand(List.of("-logDtpre.iLsfxCIvu", "--numeric-ids"), List.of("a b", "/c$d")));
    }

    @Test
    void whatever_does_more_than_send_named_files_is_none() {
        for (String each : List.of(
                "rsync --server -logDtpre.iLsfxCIvu . there",
                "rsync --server --sender -logDtpre.iLsfxCIvu .",
                "rsync --server --sender -slogDtpre.iLsfxCIvu . a",
                "rsync --server --sender -logDtpre.iLsfxCIvu --remove-source-files . a",
                "rsync --server --sender -logDtpre.iLsfxCIvu --files-from=/etc/passwd . a",
                "rsync --server --sender -logDtpre.iLsfxCIvu --log-file=x . a",
                "rsync --server --sender -logDtpre.iLsfxCIvu . a -e x",
                "rsync --server --sender -logDtpre.iLsfxCIvu . $(id)",
                "rsync --server --sender -logDtpre.iLsfxCIvu . a;id",
                "rsync --server --sender -logDtpre.iLsfxCIvu . *",
                "rsync --server --sender -logDtpre.iLsfxCIvu . 'a'",
                "rsync --server --sender -logDtpre.iLsfxCIvu . a\\",
                "/bin/rsync --server --sender -logDtpre.iLsfxCIvu . a",
                "id",
                "")) {
            assertThat(RsyncCommand.parse(each)).as(each).isEmpty();
        }
    }
}
