" Written by tools/make-highlighting, do not edit.
autocmd BufRead,BufNewFile *.rule,*.events setfiletype asterism
