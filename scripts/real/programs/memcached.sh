# shellcheck shell=bash
# memcached (C, autoconf, libevent): a listening thread and workers; two clients' connections on loopback. A replay has
# neither client nor network.
need libevent-dev
fetch_source memcached
build ./configure CC="raddle cc" CFLAGS="-g -O2 -Wno-error"
build make -j2 memcached

cat >client <<'END'
set -e
exec 3<>/dev/tcp/127.0.0.1/11219 4<>/dev/tcp/127.0.0.1/11219
say() { printf '%s\r\n' "${@:2}" >&"$1"; }
expect() {
    local line
    for wanted in "${@:2}"; do
        IFS= read -r -t 20 -u "$1" line
        [[ ${line%$'\r'} == $wanted ]] || { echo "expected $wanted, got $line"; exit 1; }
    done
}
say 3 'set a 0 0 5' hello
say 4 'set n 0 0 2' 41
expect 3 STORED
expect 4 STORED
say 3 'get a' 'incr n 1'
say 4 'get a n' 'touch a 100'
expect 3 'VALUE a 0 5' hello END 42
expect 4 'VALUE a 0 5' hello 'VALUE n 0 2' '4[12]' END TOUCHED
say 4 'delete a'
expect 4 DELETED
say 3 'get a' quit
expect 3 END
say 4 quit
END
server=(source/memcached -u "$(id -un)" -l 127.0.0.1 -p 11219 -U 0 -t 2 -m 64)
both serve --client 'bash client' --client-timeout 60 -- "${server[@]}"
