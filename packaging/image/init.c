/*
 * The whole of a guest's initramfs: finds the image's layers, lets the kernel check them with dm-verity, stacks them under
 * a limited overlay in RAM and hands over to systemd. It knows nothing but the kernel's command line and holds no secret.
 *
 * Words it reads, lowest layer first:  cloister.layer=NAME,DATABLOCKS,ROOTHASH
 * A layer's disk is the one with the virtio serial "layer-NAME". It holds DATABLOCKS blocks of squashfs and, right behind,
 * the hash tree. What does not fit the root hash panics the kernel on the first read (panic_on_corruption); any other
 * error powers the machine off with one line in the kernel's log.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LAYERS = 16, MAX_NAME = 14, HASH_DIGITS = 64, MAX_CMDLINE = 4096, DISK_WAIT_MS = 10000, SECTORS_A_BLOCK = 8 };

/* 2^32 blocks are 16 TiB, the same limit as the manifest's. */
#define MAX_BLOCKS (UINT64_C(1) << 32)

/*
 * All that a guest writes outside its own disks lies in RAM, with a limit each: what daemons write, beside /etc, apart from what
 * every user may write to. A user who fills the latter gets "no space left", and the daemons of a controlling VM go on. An inode
 * costs about 1 KiB of kernel memory that "size" does not count, hence a limit for them too. systemd takes mounts as it finds
 * them; it would give /dev/shm a million inodes.
 */
#define OVERLAY_LIMIT "mode=755,size=15%,nr_inodes=32768"
#define TMP_LIMIT "mode=1777,size=15%,nr_inodes=16384"
#define VAR_TMP_LIMIT "mode=1777,size=5%,nr_inodes=8192"
#define SHM_LIMIT "mode=1777,size=50%,nr_inodes=32768"

struct layer {
    char name[MAX_NAME + 1];
    uint64_t blocks;
    char root_hash[HASH_DIGITS + 1];
};

/* The kernel's interface to device-mapper (linux/dm-ioctl.h, version 4), which musl's headers do not have. */
struct dm_header {
    uint32_t version[3];
    uint32_t data_size, data_start, target_count;
    int32_t open_count;
    uint32_t flags, event_nr, padding;
    uint64_t dev;
    char name[128], uuid[129], data[7];
};
struct dm_target {
    uint64_t first_sector, sectors;
    int32_t status;
    uint32_t next;
    char type[16];
};
struct dm_request {
    struct dm_header header;
    struct dm_target target;
    char parameters[512];
};
_Static_assert(sizeof(struct dm_header) == 312, "dm_ioctl of the kernel has 312 bytes");
_Static_assert(sizeof(struct dm_target) == 40, "dm_target_spec of the kernel has 40 bytes");
#define DM_CREATE _IOWR(0xfd, 3, struct dm_header)
#define DM_RESUME _IOWR(0xfd, 6, struct dm_header)
#define DM_LOAD _IOWR(0xfd, 9, struct dm_header)
#define DM_READ_ONLY 1u

static void say(int level, const char *format, va_list arguments)
{
    char line[512];
    int start = snprintf(line, sizeof line, "<%d>cloister-init: ", level);
    vsnprintf(line + start, sizeof line - (size_t) start - 1, format, arguments);
    strcat(line, "\n");
    int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
    if (write(fd >= 0 ? fd : STDERR_FILENO, line, strlen(line)) < 0) {
        /* Nobody is left who could be told. */
    }
    if (fd >= 0) {
        close(fd);
    }
}

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(2, format, arguments);
    va_end(arguments);
    reboot(RB_POWER_OFF);
    /* PID 1 must not return; ending it panics, which ends the machine too. */
    _exit(1);
}

static void mount_or_fail(const char *source, const char *target, const char *type, unsigned long flags, const char *options)
{
    if (mount(source, target, type, flags, options) != 0) {
        fail("mount %s on %s (%s): %s", source, target, options ? options : "no options", strerror(errno));
    }
}

static void mkdir_or_fail(const char *path)
{
    if (mkdir(path, 0755) != 0 && errno != EEXIST) {
        fail("mkdir %s: %s", path, strerror(errno));
    }
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The build numbered the modules so that each comes after those it needs. Their memory is given back. */
static void load_modules(void)
{
    struct dirent **entries;
    int count = scandir("/modules", &entries, is_file, alphasort);
    if (count < 0) {
        fail("read /modules: %s", strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        char path[300];
        snprintf(path, sizeof path, "/modules/%s", entries[i]->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) != 0 && errno != EEXIST)) {
            fail("load %s: %s", path, strerror(errno));
        }
        close(fd);
        unlink(path);
        free(entries[i]);
    }
    free(entries);
}

/* Takes digits, and nothing else, up to the comma. */
static uint64_t parse_blocks(const char *text, const char *end)
{
    uint64_t value = 0;
    if (text == end || *text == '0') {
        return 0;
    }
    for (; text < end; text++) {
        if (*text < '0' || *text > '9' || value > MAX_BLOCKS) {
            return 0;
        }
        value = 10 * value + (uint64_t) (*text - '0');
    }
    return value <= MAX_BLOCKS ? value : 0;
}

static void parse_layer(const char *word, const char *text, struct layer *layer)
{
    const char *name_end = strchr(text, ',');
    const char *blocks_end = name_end ? strchr(name_end + 1, ',') : NULL;
    size_t length = name_end ? (size_t) (name_end - text) : 0;
    if (!blocks_end || length == 0 || length > MAX_NAME || text[0] < 'a' || text[0] > 'z'
            || strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") != length) {
        fail("command line: \"%.200s\": want NAME,BLOCKS,ROOTHASH with NAME [a-z][a-z0-9-]{0,13}", word);
    }
    memcpy(layer->name, text, length);
    layer->name[length] = '\0';
    layer->blocks = parse_blocks(name_end + 1, blocks_end);
    if (layer->blocks == 0) {
        fail("command line: \"%.200s\": want a number of blocks from 1 to 2^32", word);
    }
    const char *hash = blocks_end + 1;
    if (strlen(hash) != HASH_DIGITS || strspn(hash, "0123456789abcdef") != HASH_DIGITS) {
        fail("command line: \"%.200s\": want a root hash of 64 lower-case hex digits", word);
    }
    memcpy(layer->root_hash, hash, HASH_DIGITS + 1);
}

static int parse_command_line(struct layer layers[MAX_LAYERS])
{
    static const char prefix[] = "cloister.layer=";
    static char line[MAX_CMDLINE];
    int count = 0, fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
    if (length < 0) {
        fail("read /proc/cmdline: %s", strerror(errno));
    }
    close(fd);
    for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
        if (strncmp(word, prefix, sizeof prefix - 1) != 0) {
            continue;
        }
        if (count == MAX_LAYERS) {
            fail("command line: more than %d layers", MAX_LAYERS);
        }
        parse_layer(word, word + sizeof prefix - 1, &layers[count]);
        for (int i = 0; i < count; i++) {
            if (strcmp(layers[i].name, layers[count].name) == 0) {
                fail("command line: layer %s is named twice", layers[i].name);
            }
        }
        count++;
    }
    if (count == 0) {
        fail("command line: no cloister.layer= word: boot with the command line of the image's manifest");
    }
    return count;
}

/* The block device with that serial, as "/dev/vdX"; false if there is none (yet). */
static int find_disk(const char *wanted, char path[32])
{
    DIR *folder = opendir("/sys/block");
    struct dirent *entry;
    int found = 0;
    while (folder && !found && (entry = readdir(folder))) {
        char name[300], serial[64] = "";
        if (strncmp(entry->d_name, "vd", 2) != 0 || strlen(entry->d_name) > 16) {
            continue;
        }
        snprintf(name, sizeof name, "/sys/block/%s/serial", entry->d_name);
        int fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && read(fd, serial, sizeof serial - 1) > 0) {
            serial[strcspn(serial, "\n")] = '\0';
            if (strcmp(serial, wanted) == 0) {
                snprintf(path, 32, "/dev/%.16s", entry->d_name);
                found = access(path, F_OK) == 0;
            }
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    if (folder) {
        closedir(folder);
    }
    return found;
}

static void wait_for_disk(const char *serial, char path[32])
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    for (int waited = 0; !find_disk(serial, path); waited += 10) {
        if (waited >= DISK_WAIT_MS) {
            fail("no virtio disk with serial %s after %d s: attach the image's layer file with that serial", serial,
                    DISK_WAIT_MS / 1000);
        }
        nanosleep(&pause, NULL);
    }
}

static void dm_call(int control, unsigned long operation, const char *what, struct dm_request *request, const char *name)
{
    request->header.version[0] = 4;
    request->header.data_size = sizeof *request;
    request->header.data_start = sizeof request->header;
    request->header.flags = operation == DM_RESUME ? 0 : DM_READ_ONLY;
    strcpy(request->header.name, name);
    if (ioctl(control, operation, request) != 0) {
        fail("dm-verity %s of %s: %s", what, name, strerror(errno));
    }
}

/* Makes the checked device for a layer and mounts its squashfs on /layer/NAME. */
static void mount_layer(int control, const struct layer *layer)
{
    char serial[32], disk[32], device[32], target[32];
    snprintf(serial, sizeof serial, "layer-%s", layer->name);
    wait_for_disk(serial, disk);

    struct dm_request request = {0};
    dm_call(control, DM_CREATE, "create", &request, serial);
    snprintf(device, sizeof device, "/dev/dm-%u", minor(request.header.dev));

    memset(&request, 0, sizeof request);
    request.header.target_count = 1;
    request.target.sectors = layer->blocks * SECTORS_A_BLOCK;
    strcpy(request.target.type, "verity");
    int length = snprintf(request.parameters, sizeof request.parameters,
            "1 %s %s 4096 4096 %llu %llu sha256 %s - 1 panic_on_corruption", disk, disk,
            (unsigned long long) layer->blocks, (unsigned long long) layer->blocks, layer->root_hash);
    request.target.next = (uint32_t) ((sizeof request.target + (size_t) length + 8) & ~(size_t) 7);
    dm_call(control, DM_LOAD, "table load", &request, serial);

    memset(&request, 0, sizeof request);
    dm_call(control, DM_RESUME, "resume", &request, serial);

    snprintf(target, sizeof target, "/layer/%s", layer->name);
    mkdir_or_fail(target);
    mount_or_fail(device, target, "squashfs", MS_RDONLY | MS_NODEV, NULL);
}

static void mount_root(const struct layer *layers, int count)
{
    char options[MAX_LAYERS * 32 + 128] = "lowerdir=";
    for (int i = count - 1; i >= 0; i--) {
        strcat(options, "/layer/");
        strcat(options, layers[i].name);
        strcat(options, i > 0 ? ":" : ",upperdir=/rw/upper,workdir=/rw/work");
    }
    mount_or_fail("tmpfs", "/rw", "tmpfs", MS_NODEV, OVERLAY_LIMIT);
    mkdir_or_fail("/rw/upper");
    mkdir_or_fail("/rw/work");
    mount_or_fail("overlay", "/root", "overlay", MS_NODEV, options);
    mount_or_fail("tmpfs", "/root/tmp", "tmpfs", MS_NOSUID | MS_NODEV, TMP_LIMIT);
    mount_or_fail("tmpfs", "/root/var/tmp", "tmpfs", MS_NOSUID | MS_NODEV, VAR_TMP_LIMIT);
    mkdir_or_fail("/dev/shm");
    mount_or_fail("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, SHM_LIMIT);
}

int main(void)
{
    static struct layer layers[MAX_LAYERS];
    mount_or_fail("devtmpfs", "/dev", "devtmpfs", MS_NOSUID, "mode=755");
    /* Users see only their own processes. systemd keeps this mount as it finds it. */
    mount_or_fail("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2");
    mount_or_fail("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
    int count = parse_command_line(layers);
    load_modules();

    int control = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);
    if (control < 0) {
        fail("open /dev/mapper/control: %s", strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        mount_layer(control, &layers[i]);
    }
    close(control);
    mount_root(layers, count);

    mount_or_fail("/dev", "/root/dev", NULL, MS_MOVE, NULL);
    mount_or_fail("/proc", "/root/proc", NULL, MS_MOVE, NULL);
    mount_or_fail("/sys", "/root/sys", NULL, MS_MOVE, NULL);
    unlink("/init");
    if (chdir("/root") != 0) {
        fail("chdir /root: %s", strerror(errno));
    }
    mount_or_fail(".", "/", NULL, MS_MOVE, NULL);
    if (chroot(".") != 0 || chdir("/") != 0) {
        fail("chroot: %s", strerror(errno));
    }
    execl("/sbin/init", "/sbin/init", (char *) NULL);
    fail("exec /sbin/init: %s", strerror(errno));
}
